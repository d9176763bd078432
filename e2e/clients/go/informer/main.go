// A shared informer over the ConfigMaps of a namespace, as any operator runs one. Prints one line of
// JSON an event; the word "list" on stdin makes it print what its cache holds; end of stdin ends it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type line struct {
	Event string            `json:"event"`
	Name  string            `json:"name,omitempty"`
	Data  map[string]string `json:"data,omitempty"`
	Names []string          `json:"names,omitempty"`
}

var output sync.Mutex

func say(l line) {
	output.Lock()
	defer output.Unlock()
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func main() {
	namespace := flag.String("namespace", "default", "whose ConfigMaps")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, informers.WithNamespace(*namespace))
	maps := factory.Core().V1().ConfigMaps()
	report := func(event string, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		configMap := object.(*corev1.ConfigMap)
		say(line{Event: event, Name: configMap.Name, Data: configMap.Data})
	}
	_, err = maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { report("added", object) },
		UpdateFunc: func(old, now any) {
			if old.(*corev1.ConfigMap).ResourceVersion != now.(*corev1.ConfigMap).ResourceVersion {
				report("updated", now)
			}
		},
		DeleteFunc: func(object any) { report("deleted", object) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	say(line{Event: "synced"})
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		listed, err := maps.Lister().ConfigMaps(*namespace).List(labels.Everything())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		names := []string{}
		for _, each := range listed {
			names = append(names, each.Name)
		}
		sort.Strings(names)
		say(line{Event: "listed", Names: names})
	}
	close(stop)
	factory.Shutdown()
}
