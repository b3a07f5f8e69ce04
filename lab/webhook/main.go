// Command webhook is everything that a kube-apiserver must reach in the lab's pod network, over HTTPS with one
// certificate:
//
//	POST /validate  a validating admission webhook: denies objects with the label deny: "true"
//	POST /validate-once  the same, and then it closes the connection: each call needs a new one
//	POST /convert   a CRD conversion webhook: sets apiVersion, and spec.convertedFrom to the version it came from
//	GET  /apis/...  an aggregated API, lab.konnectivity-bootstrap.io/v1alpha1: discovery, and a list of echoes, the only
//	                one of which says who asked and from where
//	GET  /calls     for each path how often it was called, and from which addresses
//	GET  /healthz
//
// and, on an address of its own (--kubelet-listen), what the node proxy asks a kubelet for:
//
//	GET  /healthz, /pods
//
// What is left out: who asks is never verified (the front proxy's and the kube-apiserver's client certificates are not
// asked for), a certificate is read once, HTTP/2, watches, OpenAPI, and all of a kubelet beyond the two paths.
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

const (
	group   = "lab.konnectivity-bootstrap.io"
	version = group + "/v1alpha1"
)

// object is any JSON object whose fields nobody here declares.
type object = map[string]any

func main() {
	log.SetFlags(0)
	listen := flag.String("listen", "", "address for webhooks and the aggregated API, like 10.128.0.5:8443; port 0 is any")
	kubelet := flag.String("kubelet-listen", "", "address to answer on as a kubelet, like 10.0.0.3:10250")
	cert := flag.String("tls-cert", "", "file with the certificate (PEM)")
	key := flag.String("tls-key", "", "file with its key (PEM)")
	flag.Parse()
	if flag.NArg() > 0 || *cert == "" || *key == "" || *listen == "" && *kubelet == "" {
		log.Fatal("webhook needs --tls-cert, --tls-key, and --listen or --kubelet-listen or both")
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}

	counted := &calls{byPath: map[string]*count{}}
	if *listen != "" {
		serve("webhook", *listen, pair, counted, map[string]http.HandlerFunc{
			"POST /validate":                   validate,
			"POST /validate-once":              validateOnce,
			"POST /convert":                    convert,
			"GET /apis/" + group:               fixed(apiGroup),
			"GET /apis/" + version:             fixed(apiResources),
			"GET /apis/" + version + "/echoes": echoes,
		})
	}
	if *kubelet != "" {
		serve("kubelet", *kubelet, pair, counted, map[string]http.HandlerFunc{
			"GET /pods": fixed(object{"apiVersion": "v1", "kind": "PodList", "metadata": object{}, "items": []object{}}),
		})
	}
	// As a container's first process it would not be ended by a signal that it does not wait for.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}

// serve answers in the background, and says on stdout where.
func serve(name, address string, pair tls.Certificate, counted *calls, handlers map[string]http.HandlerFunc) {
	mux := http.NewServeMux()
	for pattern, handler := range handlers {
		mux.HandleFunc(pattern, counted.in(handler))
	}
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { counted.report(w) })
	mux.HandleFunc("GET /healthz", counted.in(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	// HTTP/1.1 only: HTTP/2 sends header and body apart.
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}
	fmt.Printf("%s answers on %s\n", name, listener.Addr())
	go func() { log.Fatal(http.Serve(tls.NewListener(listener, config), mux)) }()
}

func validate(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID    string `json:"uid"`
			Object struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
			} `json:"object"`
		} `json:"request"`
	}
	if !read(w, r, &review) {
		return
	}
	response := object{"uid": review.Request.UID, "allowed": true}
	if review.Request.Object.Metadata.Labels["deny"] == "true" {
		response["allowed"] = false
		response["status"] = object{"code": http.StatusForbidden, "message": `the label deny: "true" is not wanted in the lab`}
	}
	reply(w, object{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

func validateOnce(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	validate(w, r)
}

func convert(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID               string   `json:"uid"`
			DesiredAPIVersion string   `json:"desiredAPIVersion"`
			Objects           []object `json:"objects"`
		} `json:"request"`
	}
	if !read(w, r, &review) {
		return
	}
	for _, converted := range review.Request.Objects {
		spec, ok := converted["spec"].(object)
		if !ok {
			spec = object{}
		}
		spec["convertedFrom"] = converted["apiVersion"]
		converted["spec"] = spec
		converted["apiVersion"] = review.Request.DesiredAPIVersion
	}
	reply(w, object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": object{
		"uid":              review.Request.UID,
		"convertedObjects": review.Request.Objects,
		"result":           object{"status": "Success"},
	}})
}

var (
	groupVersion = object{"groupVersion": version, "version": "v1alpha1"}
	apiGroup     = object{
		"apiVersion": "v1", "kind": "APIGroup", "name": group,
		"versions": []object{groupVersion}, "preferredVersion": groupVersion,
	}
	apiResources = object{
		"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": version,
		"resources": []object{{
			"name": "echoes", "singularName": "echo", "kind": "Echo", "namespaced": false, "verbs": []string{"list"},
		}},
	}
)

func echoes(w http.ResponseWriter, r *http.Request) {
	echo := object{
		"apiVersion": version, "kind": "Echo", "metadata": object{"name": "you"},
		"status": object{"user": r.Header.Get("X-Remote-User"), "source": source(r)},
	}
	reply(w, object{"apiVersion": version, "kind": "EchoList", "metadata": object{}, "items": []object{echo}})
}

// calls counts what was asked for.
type calls struct {
	sync.Mutex
	byPath map[string]*count
}

type count struct {
	Count   int            `json:"count"`
	Sources map[string]int `json:"sources"`
}

func (c *calls) in(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.Lock()
		path := c.byPath[r.URL.Path]
		if path == nil {
			path = &count{Sources: map[string]int{}}
			c.byPath[r.URL.Path] = path
		}
		path.Count++
		path.Sources[source(r)]++
		c.Unlock()
		handler(w, r)
	}
}

func (c *calls) report(w http.ResponseWriter) {
	c.Lock()
	defer c.Unlock()
	reply(w, c.byPath)
}

func source(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func read(w http.ResponseWriter, r *http.Request, review any) bool {
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, "not a review: "+err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func fixed(value any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply(w, value) }
}

// reply writes header and body in one go: a header written first costs 40 ms through the tunnel. That holds for up to
// 4 KiB, which is net/http's buffer.
func reply(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
