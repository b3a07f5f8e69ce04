// Command installer-rewrite does to a bootstrap.ign what `openshift-install create cluster` does to it before it gives
// it to the bootstrap machine: it reads the config from stdin into the Go types of Ignition spec 3.2, adds one more
// file, and writes the result to stdout. Keys that these types do not have are lost without a word.
//
// The file is the manifest of the ConfigMap openshift-config/openshift-install, which says which installer made the
// cluster, and who ran it.
//
// What is left out: everything before, that is which bootstrap.ign is taken (the installer's asset store); everything
// after, that is the object storage or the Secret through which the machine gets the config; the environment variable
// OPENSHIFT_INSTALL_INVOKER.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	zerojson "github.com/clarketm/json"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
)

const (
	manifestPath = "/opt/openshift/manifests/openshift-install.yaml"
	manifest     = `apiVersion: v1
data:
  invoker: user
  version: lab
kind: ConfigMap
metadata:
  name: openshift-install
  namespace: openshift-config
`
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var config types.Config
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	config.Storage.Files = append(config.Storage.Files, file(manifestPath, 0o644, manifest))
	// Unlike encoding/json it leaves empty structs out, as the installer does.
	rewritten, err := zerojson.Marshal(config)
	if err != nil {
		return err
	}
	_, err = out.Write(rewritten)
	return err
}

// file is a file of root's, as the installer describes its own.
func file(path string, mode int, content string) types.File {
	overwrite, user, source := true, "root", dataurl.EncodeBytes([]byte(content))
	return types.File{
		Node:          types.Node{Path: path, Overwrite: &overwrite, User: types.NodeUser{Name: &user}},
		FileEmbedded1: types.FileEmbedded1{Mode: &mode, Contents: types.Resource{Source: &source}},
	}
}
