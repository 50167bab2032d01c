// SPDX-License-Identifier: Apache-2.0
// The parts of a Kubernetes control plane in one program: kube etcd|apiserver|controller-manager|scheduler [FLAGS]
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	parts := map[string]func() *cobra.Command{
		"apiserver":          apiserver.NewAPIServerCommand,
		"controller-manager": manager.NewControllerManagerCommand,
		"scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	if len(os.Args) < 2 || (os.Args[1] != "etcd" && parts[os.Args[1]] == nil) {
		fmt.Fprintln(os.Stderr, "kube etcd|apiserver|controller-manager|scheduler [FLAGS]")
		os.Exit(2)
	}
	part := os.Args[1]
	os.Args = append([]string{"kube-" + part}, os.Args[2:]...)
	if part == "etcd" {
		os.Args[0] = "etcd"
		etcdmain.Main(os.Args)
		return
	}
	os.Exit(cli.Run(parts[part]()))
}
