// The dynamic client's whole verb list over one resource: creates, pages, patches in four ways, watches
// and deletes; any surprise ends it with a message and exit code 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

func check(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func object(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(kind)
	out.SetName(name)
	out.SetLabels(map[string]string{"made": "here"})
	return out
}

func main() {
	namespace := flag.String("namespace", "default", "where")
	group := flag.String("group", "scheduling.volcano.sh", "of the resource")
	kindName := flag.String("kind", "PodGroup", "of the resource")
	version := flag.String("version", "v1beta1", "of the resource")
	field := flag.String("field", "minMember", "an integer field of its spec")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()

	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check("config", err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	kind := schema.GroupVersionKind{Group: *group, Version: *version, Kind: *kindName}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	check("mapping", err)
	client := dynamic.NewForConfigOrDie(config).Resource(mapping.Resource).Namespace(*namespace)

	watching, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: "made=here"})
	check("watch", err)
	for i := range 5 {
		_, err = client.Create(ctx, object(kind, fmt.Sprintf("d-%d", i), map[string]any{*field: int64(1)}), metav1.CreateOptions{})
		check("create", err)
	}
	if _, err = client.Create(ctx, object(kind, "d-0", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		fail("a second d-0: %v", err)
	}
	names, token := 0, ""
	for {
		page, err := client.List(ctx, metav1.ListOptions{Limit: 2, Continue: token})
		check("list", err)
		names += len(page.Items)
		if token = page.GetContinue(); token == "" {
			break
		}
	}
	if names != 5 {
		fail("%d objects in pages of two", names)
	}
	patched, err := client.Patch(ctx, "d-1", types.MergePatchType, fmt.Appendf(nil, `{"spec":{%q:2}}`, *field), metav1.PatchOptions{})
	check("merge patch", err)
	if value, _, _ := unstructured.NestedInt64(patched.Object, "spec", *field); value != 2 {
		fail("after the merge patch: %d", value)
	}
	_, err = client.Patch(ctx, "d-1", types.JSONPatchType, fmt.Appendf(nil, `[{"op":"replace","path":"/spec/%s","value":3}]`, *field), metav1.PatchOptions{})
	check("JSON patch", err)
	if _, err = client.Patch(ctx, "d-1", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{}); !apierrors.IsUnsupportedMediaType(err) {
		fail("a strategic patch of a custom kind: %v", err)
	}
	applied, err := client.Apply(ctx, "d-2", object(kind, "d-2", map[string]any{*field: int64(4)}), metav1.ApplyOptions{FieldManager: "here", Force: true})
	check("apply", err)
	if len(applied.GetManagedFields()) == 0 {
		fail("no managedFields after an apply")
	}
	stale := patched.DeepCopy()
	if _, err = client.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		fail("an update of what has changed since: %v", err)
	}
	// The scheduler may write between the two.
	check("update", retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := client.Get(ctx, "d-1", metav1.GetOptions{})
		check("get", err)
		check("set", unstructured.SetNestedField(current.Object, int64(5), "spec", *field))
		_, err = client.Update(ctx, current, metav1.UpdateOptions{})
		return err
	}))
	check("delete", client.Delete(ctx, "d-0", metav1.DeleteOptions{}))
	check("delete collection", client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "made=here"}))
	if _, err = client.Get(ctx, "d-3", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		fail("d-3 after the deletion: %v", err)
	}

	seen := map[watch.EventType]int{}
	for seen[watch.Deleted] < 5 {
		event, open := <-watching.ResultChan()
		if !open {
			fail("the watch ended after %v", seen)
		}
		seen[event.Type]++
	}
	// More changes than our own four: the scheduler writes what it thinks of the groups.
	if seen[watch.Added] != 5 || seen[watch.Modified] < 4 {
		fail("the watch told %v", seen)
	}
	fmt.Println("all as expected")
}
