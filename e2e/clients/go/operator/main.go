// A small operator with controller-runtime on a kind of its own: each Echo gets a ConfigMap with its
// message, says so in its status, and takes a finalizer's time to go.
package main

import (
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"krater.io/e2e/clients/operator/echo"
)

func main() {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, echo.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	// Longer than a server takes to come back.
	lease, renew := time.Minute, 45*time.Second
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "echo.example.com",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
	})
	if err == nil {
		err = echo.SetupWithManager(manager)
	}
	if err == nil {
		err = manager.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		ctrl.Log.Error(err, "the operator has ended")
		os.Exit(1)
	}
}
