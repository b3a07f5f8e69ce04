// Command kubernetes-schema checks rendered Kubernetes objects against the real API types.
//
// It reads a JSON array of {"name", "kind", "text"} from stdin, each text being the YAML or JSON of one
// object, and prints a JSON array of {"name", "problems"} in the same order. It exits 0 whatever it finds,
// and 2 only when stdin cannot be read as such an array.
//
// What is checked:
//   - The core, apps, policy, networking and RBAC kinds in strategies: strict decoding (unknown and duplicate
//     fields are problems), then the defaulting, conversion and create-time validation of kube-apiserver
//     v1.36.0, through the very registry strategies that the server runs.
//   - apiserver.k8s.io/v1beta1 EgressSelectorConfiguration: the reader and validator of kube-apiserver.
//   - kubecontrolplane.config.openshift.io/v1 KubeAPIServerConfig: strict decoding only, for OpenShift keeps
//     its validation in its fork of kube-apiserver. Go template expressions pass inside string values.
//
// Any other kind is itself a problem. What is not modelled: admission (Pod Security, security context
// constraints, service account and priority class injection, quota), authorization and the RBAC escalation
// check, references to other objects, updates of existing objects, generateName, warnings, feature gates
// other than the defaults (a field of a disabled gate is dropped without a word, as the server does), and
// what the kubelet asks of a static Pod alone (such as its ban on references to API objects).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	kubecontrolplanev1 "github.com/openshift/api/kubecontrolplane/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

type entry struct{ Name, Kind, Text string }

// strategies holds, by apiVersion and kind, what kube-apiserver runs when an object is created.
var strategies = map[string]rest.RESTCreateStrategy{
	"v1 ConfigMap":                             configmap.Strategy,
	"v1 Namespace":                             namespace.Strategy,
	"v1 Pod":                                   pod.Strategy,
	"v1 Secret":                                secret.Strategy,
	"v1 ServiceAccount":                        serviceaccount.Strategy,
	"apps/v1 DaemonSet":                        daemonset.Strategy,
	"apps/v1 Deployment":                       deployment.Strategy,
	"networking.k8s.io/v1 NetworkPolicy":       networkpolicy.Strategy,
	"policy/v1 PodDisruptionBudget":            poddisruptionbudget.Strategy,
	"rbac.authorization.k8s.io/v1 ClusterRole": clusterrole.Strategy,
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": clusterrolebinding.Strategy,
	"rbac.authorization.k8s.io/v1 Role":               role.Strategy,
	"rbac.authorization.k8s.io/v1 RoleBinding":        rolebinding.Strategy,
}

func main() {
	var entries []entry
	if err := json.NewDecoder(os.Stdin).Decode(&entries); err != nil {
		fmt.Fprintf(os.Stderr, "kubernetes-schema: stdin is not a JSON array of {name, kind, text}: %v.\n", err)
		os.Exit(2)
	}
	capabilities.Setup(true, 0) // as kube-apiserver --allow-privileged and every kubelet do
	results := []map[string]any{}
	for _, e := range entries {
		problems := append([]string{}, check(e)...) // never null in the output
		results = append(results, map[string]any{"name": e.Name, "problems": problems})
	}
	utilruntime.Must(json.NewEncoder(os.Stdout).Encode(results))
}

func check(e entry) (problems []string) {
	// kube-apiserver answers a panic in its code by failing that one request, so here it fails one entry.
	defer func() {
		if p := recover(); p != nil {
			problems = append(problems, fmt.Sprintf("the check itself failed: %v", p))
		}
	}()
	typeMeta, err := typeOf(e.Text)
	if err != nil {
		return []string{err.Error()}
	}
	if typeMeta.Kind != e.Kind {
		problems = append(problems, fmt.Sprintf("the kind is %q, not %q", typeMeta.Kind, e.Kind))
	}
	kind := typeMeta.APIVersion + " " + typeMeta.Kind
	if strategy, ok := strategies[kind]; ok {
		return append(problems, checkObject(e.Text, typeMeta.GroupVersionKind(), strategy)...)
	}
	switch kind {
	case "apiserver.k8s.io/v1beta1 EgressSelectorConfiguration":
		return append(problems, checkEgress(e.Text)...)
	case "kubecontrolplane.config.openshift.io/v1 KubeAPIServerConfig":
		scheme := runtime.NewScheme()
		utilruntime.Must(kubecontrolplanev1.Install(scheme))
		_, found := decode(scheme, e.Text, kubecontrolplanev1.GroupVersion)
		return append(problems, found...)
	}
	return append(problems, fmt.Sprintf("unsupported apiVersion and kind: %q", kind))
}

// typeOf also counts the objects, since the decoders would read the first one and pass over the others.
func typeOf(text string) (_ metav1.TypeMeta, err error) {
	var found []metav1.TypeMeta
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), len(text)); err == nil; {
		var typeMeta *metav1.TypeMeta // stays nil for a document of nothing but comments
		if err = decoder.Decode(&typeMeta); err == nil && typeMeta != nil {
			found = append(found, *typeMeta)
		}
	}
	if !errors.Is(err, io.EOF) {
		return metav1.TypeMeta{}, err
	}
	if len(found) != 1 {
		return metav1.TypeMeta{}, fmt.Errorf("the text holds %d objects, not one", len(found))
	}
	return found[0], nil
}

// decode reads an object, applies its defaults and converts it to the given version, or without one to the
// internal type that is the one validated. It returns the object even when strict decoding rejects some of
// its fields, so that a misspelled field does not hide what the validation has to say.
func decode(scheme *runtime.Scheme, text string, to ...schema.GroupVersion) (object runtime.Object, problems []string) {
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(to...)
	object, _, err := decoder.Decode([]byte(text), nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			problems = append(problems, e.Error())
		}
	} else if err != nil {
		return nil, []string{err.Error()}
	}
	return object, problems
}

func checkObject(text string, gvk schema.GroupVersionKind, strategy rest.RESTCreateStrategy) []string {
	object, problems := decode(legacyscheme.Scheme, text)
	if object == nil {
		return problems
	}
	accessor := object.(metav1.Object)
	// A request is always made in a namespace, and the kubelet gives this one to a static Pod without any.
	if strategy.NamespaceScoped() && accessor.GetNamespace() == "" {
		accessor.SetNamespace(metav1.NamespaceDefault)
	}
	// The declarative part of the validation asks the request for the version to validate.
	ctx := request.WithRequestInfo(context.Background(), &request.RequestInfo{APIGroup: gvk.Group, APIVersion: gvk.Version})
	strategy.PrepareForCreate(ctx, object)
	for _, e := range strategy.Validate(ctx, object) {
		problems = append(problems, e.Error())
	}
	return problems
}

func checkEgress(text string) (problems []string) {
	dir, err := os.MkdirTemp("", "kubernetes-schema-")
	utilruntime.Must(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "egress.yaml") // the real reader takes a path
	utilruntime.Must(os.WriteFile(file, []byte(text), 0o600))
	config, err := egressselector.ReadEgressSelectorConfiguration(file)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range egressselector.ValidateEgressSelectorConfiguration(config) {
		// With TCP over TLS the validator looks for the certificate files. They belong on the machine of the
		// API server, not on this one, so their absence here says nothing about the object.
		if !strings.HasSuffix(e.Detail, "does not exist") {
			problems = append(problems, e.Error())
		}
	}
	return problems
}
