package echo

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// The usual suite of an operator: envtest installs the kind into the cluster, a manager runs here.
func TestEcho(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	existing := true
	environment := envtest.Environment{
		Config:                config,
		UseExistingCluster:    &existing,
		CRDDirectoryPaths:     []string{filepath.Join(".", "crd.yaml")},
		ErrorIfCRDPathMissing: true,
		CRDInstallOptions:     envtest.CRDInstallOptions{CleanUpAfterUse: true},
	}
	config, err = environment.Start()
	must(t, err)
	defer func() { must(t, environment.Stop()) }()

	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, AddToScheme(scheme))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	must(t, err)
	must(t, SetupWithManager(manager))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	defer func() { cancel(); must(t, <-ended) }()

	api, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	namespace := os.Getenv("NAMESPACE")
	echo := &Echo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"}, Spec: Spec{Message: "hello"}}
	must(t, api.Create(ctx, echo))
	if echo.Spec.Replicas != 1 {
		t.Fatalf("the default of replicas: %d", echo.Spec.Replicas)
	}
	key := client.ObjectKeyFromObject(echo)
	var configMap corev1.ConfigMap
	eventually(t, ctx, "the ConfigMap", func() bool {
		return api.Get(ctx, key, &configMap) == nil && configMap.Data["message"] == "hello"
	})
	eventually(t, ctx, "the condition", func() bool {
		return api.Get(ctx, key, echo) == nil && meta.IsStatusConditionTrue(echo.Status.Conditions, "Echoed")
	})
	echo.Spec.Message = "again"
	must(t, api.Update(ctx, echo))
	eventually(t, ctx, "the change", func() bool {
		return api.Get(ctx, key, &configMap) == nil && configMap.Data["message"] == "again"
	})
	must(t, api.Delete(ctx, &configMap))
	eventually(t, ctx, "the ConfigMap to be back", func() bool { return api.Get(ctx, key, &corev1.ConfigMap{}) == nil })
	invalid := &Echo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "silent"}}
	if err := api.Create(ctx, invalid); !apierrors.IsInvalid(err) {
		t.Fatalf("an Echo without a message: %v", err)
	}
	must(t, api.Delete(ctx, echo))
	eventually(t, ctx, "the end of both", func() bool {
		return apierrors.IsNotFound(api.Get(ctx, key, &Echo{})) && apierrors.IsNotFound(api.Get(ctx, key, &corev1.ConfigMap{}))
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
