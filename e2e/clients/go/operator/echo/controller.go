package echo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "example.com/farewell"

type reconciler struct {
	client.Client
}

func SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&Echo{}).
		Owns(&corev1.ConfigMap{}).
		Complete(&reconciler{manager.GetClient()})
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var echo Echo
	if err := r.Get(ctx, request.NamespacedName, &echo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !echo.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&echo, finalizer) {
			return ctrl.Result{}, r.Update(ctx, &echo)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&echo, finalizer) {
		if err := r.Update(ctx, &echo); err != nil {
			return ctrl.Result{}, err
		}
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: echo.Namespace, Name: echo.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, configMap, func() error {
		configMap.Data = map[string]string{"message": echo.Spec.Message}
		return controllerutil.SetControllerReference(&echo, configMap, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	changed := meta.SetStatusCondition(&echo.Status.Conditions, metav1.Condition{
		Type: "Echoed", Status: metav1.ConditionTrue, Reason: "Written", ObservedGeneration: echo.Generation})
	if changed || echo.Status.ObservedGeneration != echo.Generation {
		echo.Status.ObservedGeneration = echo.Generation
		return ctrl.Result{}, r.Status().Update(ctx, &echo)
	}
	return ctrl.Result{}, nil
}
