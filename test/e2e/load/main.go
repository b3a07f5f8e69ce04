// Command load asks a kube-apiserver to create ConfigMaps, and says how long each call took. It has its own connection for
// each client, kept open, over HTTP/1.1. Nothing else: it does not retry, and does not remove what it made.
//
// With --clients it is a crowd: every client asks again as soon as it has its answer, --count calls in all, and nobody
// longer than --seconds. First every client asks once without being counted, so that connections are open. At the end one
// line of JSON: the wall time, the processor time of this program, each call's time, and what failed.
//
// With --every it is a pulse: a call each interval, whatever became of those before, until stdin
// is closed; then it waits for those under way. A line of JSON for each call as it ends.
//
// With --get it asks for that path instead of creating anything: how fast this program can be at all.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type options struct {
	server, serverName, ca, cert, key, get, label, name string
	dryRun                                              bool
	clients, count                                      int
	seconds                                             float64
	every                                               time.Duration
}

// crowd is what a crowd of clients has seen.
type crowd struct {
	Seconds      float64 `json:"seconds"`
	CPUSeconds   float64 `json:"cpuSeconds"`
	Microseconds []int64 `json:"microseconds"`
	Failed       int     `json:"failed"`
	Failure      string  `json:"failure"`
}

// call is one call of a pulse: when it was sent (milliseconds since 1970), how long it took, and why it failed.
type call struct {
	Sent    float64 `json:"sent"`
	Took    float64 `json:"took"`
	Failure string  `json:"failure"`
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.server, "server", "", "URL of the kube-apiserver")
	flag.StringVar(&o.serverName, "server-name", "", "the name in its certificate, if the URL has another")
	flag.StringVar(&o.ca, "ca", "", "file with its CA (PEM)")
	flag.StringVar(&o.cert, "cert", "", "file with the client's certificate (PEM)")
	flag.StringVar(&o.key, "key", "", "file with the client's key (PEM)")
	flag.StringVar(&o.get, "get", "", "only ask for this path")
	flag.StringVar(&o.label, "label", "", "the label of every ConfigMap: what a webhook selects them by")
	flag.StringVar(&o.name, "name", "", "how the ConfigMaps' names begin; another one each time")
	flag.BoolVar(&o.dryRun, "dry-run", false, "nothing is stored; webhooks are called all the same")
	flag.IntVar(&o.clients, "clients", 0, "a crowd of this many")
	flag.IntVar(&o.count, "count", 0, "calls of the crowd")
	flag.Float64Var(&o.seconds, "seconds", 60, "longest time of the crowd")
	flag.DurationVar(&o.every, "every", 0, "a pulse with this interval")
	flag.Parse()
	if flag.NArg() > 0 || o.server == "" || (o.clients > 0) == (o.every > 0) {
		log.Fatal("load needs --server, and either --clients and --count or --every")
	}
	client, err := newClients(o)
	if err != nil {
		log.Fatal(err)
	}
	if o.every > 0 {
		pulse(o, client())
		return
	}
	json.NewEncoder(os.Stdout).Encode(run(o, client))
}

// newClients makes a function that makes clients, each with connections of its own.
func newClients(o options) (func() *http.Client, error) {
	config := &tls.Config{ServerName: o.serverName}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return func() *http.Client {
		// A pulse has as many calls under way as there are.
		transport := &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 1024}
		return &http.Client{Transport: transport, Timeout: 20 * time.Second}
	}, nil
}

func run(o options, client func() *http.Client) crowd {
	var (
		next    atomic.Int64
		warm    sync.WaitGroup
		ended   sync.WaitGroup
		begin   = make(chan time.Time)
		results = make([]crowd, o.clients)
	)
	warm.Add(o.clients)
	for i := range o.clients {
		ended.Go(func() {
			c, mine := client(), &results[i]
			if err := ask(o, c, fmt.Sprintf("warm-%d", i)); err != nil {
				mine.Failed++
				mine.Failure = err.Error()
			}
			warm.Done()
			end := (<-begin).Add(time.Duration(o.seconds * float64(time.Second)))
			for n := next.Add(1); n <= int64(o.count) && time.Now().Before(end); n = next.Add(1) {
				start := time.Now()
				err := ask(o, c, fmt.Sprint(n))
				if err != nil {
					mine.Failed++
					mine.Failure = err.Error()
					continue
				}
				mine.Microseconds = append(mine.Microseconds, time.Since(start).Microseconds())
			}
		})
	}
	warm.Wait()
	cpu, start := cpuSeconds(), time.Now()
	for range o.clients {
		begin <- start
	}
	ended.Wait()
	all := crowd{Seconds: time.Since(start).Seconds(), CPUSeconds: cpuSeconds() - cpu, Microseconds: []int64{}}
	for _, result := range results {
		all.Microseconds = append(all.Microseconds, result.Microseconds...)
		all.Failed += result.Failed
		if result.Failure != "" {
			all.Failure = result.Failure
		}
	}
	return all
}

func pulse(o options, client *http.Client) {
	closed := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	var (
		output   sync.Mutex
		underWay sync.WaitGroup
	)
	encoder := json.NewEncoder(os.Stdout)
	ticker := time.NewTicker(o.every)
	one := func(start time.Time, name string) {
		c := call{Sent: float64(start.UnixMicro()) / 1000}
		if err := ask(o, client, name); err != nil {
			c.Failure = err.Error()
		}
		c.Took = float64(time.Since(start).Microseconds()) / 1000
		output.Lock()
		defer output.Unlock()
		encoder.Encode(c)
	}
	for n := 0; ; n++ {
		select {
		case <-closed:
			underWay.Wait()
			return
		case start := <-ticker.C:
			underWay.Go(func() { one(start, fmt.Sprint(n)) })
		}
	}
}

func ask(o options, client *http.Client, name string) error {
	if o.get != "" {
		response, err := client.Get(o.server + o.get)
		return answer(response, err, http.StatusOK)
	}
	labels := map[string]string{}
	if o.label != "" {
		labels[o.label] = "true"
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": o.name + name, "labels": labels},
	})
	if err != nil {
		return err
	}
	path := "/api/v1/namespaces/lab/configmaps"
	if o.dryRun {
		path += "?dryRun=All"
	}
	response, err := client.Post(o.server+path, "application/json", bytes.NewReader(body))
	return answer(response, err, http.StatusCreated)
}

// answer reads all of it, or the connection could not be used again.
func answer(response *http.Response, err error, wanted int) error {
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != wanted {
		var status struct {
			Message string `json:"message"`
		}
		json.Unmarshal(body, &status)
		return fmt.Errorf("%s: %s", response.Status, status.Message)
	}
	return nil
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
