// SPDX-License-Identifier: Apache-2.0
// Tests opsbrain with the official Go client; ../interop.mjs describes what this program prints and what it can ask for.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const patience = 60 * time.Second

type arguments map[string]any

// A conversation is one client and what the server reported to it: the URIs of changed resources, and the progress for each
// progress token.
type conversation struct {
	model      string
	legacy     bool
	session    *mcp.ClientSession
	updates    chan string
	mutex      sync.Mutex
	progress   map[any][]float64
	sweep, job string
}

var answers = bufio.NewReader(os.Stdin)

func ask(what string) error {
	fmt.Println("ask " + what)
	reply, err := answers.ReadString('\n')
	if err == nil && reply != "done\n" {
		err = errors.New(strings.TrimSpace(reply))
	}
	return err
}

func (c *conversation) heardProgress(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	token := request.Params.ProgressToken
	c.progress[token] = append(c.progress[token], request.Params.Progress)
}

func (c *conversation) heardUpdate(_ context.Context, request *mcp.ResourceUpdatedNotificationRequest) {
	c.updates <- request.Params.URI
}

func (c *conversation) seen(token any) []float64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.progress[token])
}

// call returns the structured content of a call that must succeed; with a token, the call asks for progress.
func (c *conversation) call(ctx context.Context, name string, args arguments, token any) (arguments, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	if token != nil {
		params.SetProgressToken(token)
	}
	result, err := c.session.CallTool(ctx, params)
	if err != nil {
		return nil, err
	}
	if result.IsError {
		text, _ := json.Marshal(result.Content)
		return nil, errors.New(string(text))
	}
	return result.StructuredContent.(map[string]any), nil
}

func (c *conversation) connect(ctx context.Context, url, era string) error {
	c.legacy = era == "legacy"
	if c.legacy {
		era = "2025-11-25"
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: c.heardProgress,
		ResourceUpdatedHandler:      c.heardUpdate,
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		return err
	}
	c.session = session
	if version := session.InitializeResult().ProtocolVersion; version != era {
		return fmt.Errorf("got protocol version %s, expected %s", version, era)
	}
	return nil
}

func (c *conversation) list(ctx context.Context) error {
	var found []string
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		found = append(found, tool.Name)
	}
	for resource, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return err
		}
		found = append(found, resource.URI)
	}
	for prompt, err := range c.session.Prompts(ctx, nil) {
		if err != nil {
			return err
		}
		found = append(found, prompt.Name)
	}
	for _, name := range []string{"sweep_start", "opsbrain://guide", "benchmark_a_deployment"} {
		if !slices.Contains(found, name) {
			return fmt.Errorf("%s is not in %v", name, found)
		}
	}
	guide, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "opsbrain://guide"})
	if err == nil && !strings.Contains(guide.Contents[0].Text, "sweep") {
		err = fmt.Errorf("the guide does not mention sweeps: %q", guide.Contents[0].Text)
	}
	return err
}

func (c *conversation) callWithProgress(ctx context.Context) error {
	if _, err := c.call(ctx, "deployment_register", arguments{"name": "sim", "url": c.model}, nil); err != nil {
		return err
	}
	query := arguments{"deployment": "sim", "prompt": "Say something long.", "max_tokens": 60}
	if _, err := c.call(ctx, "model_query", query, "query"); err != nil {
		return err
	}
	seen := c.seen("query")
	if len(seen) < 2 || !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
		return fmt.Errorf("got progress %v, expected at least two rising values", seen)
	}
	return nil
}

func (c *conversation) cancel(ctx context.Context) error {
	started, err := c.call(ctx, "sweep_start", arguments{
		"deployment": "sim", "concurrency": []int{1, 2}, "input_tokens": []int{16}, "output_tokens": []int{8},
		"window_s": 60, "warmup_limit_s": 1,
	}, nil)
	if err != nil {
		return err
	}
	c.job = started["job"].(string)
	c.sweep = "opsbrain://sweeps/" + started["sweep"].(map[string]any)["id"].(string)

	waiting, giveUp := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() {
		_, err := c.call(waiting, "job_show", arguments{"job": c.job, "wait_s": 50}, nil)
		over <- err
	}()
	err = ask("busy")
	giveUp()
	if ended := <-over; err == nil && !errors.Is(ended, context.Canceled) {
		err = fmt.Errorf("the cancelled call returned %v, expected context.Canceled", ended)
	}
	if err != nil {
		return err
	}
	if err := ask("quiet"); err != nil {
		return err
	}
	shown, err := c.call(ctx, "job_show", arguments{"job": c.job}, nil)
	if err != nil {
		return err
	}
	if job := shown["job"].(map[string]any); job["cancel_requested"] == true {
		return fmt.Errorf("cancelling the call cancelled the job too: %v", job)
	}
	return nil
}

func (c *conversation) subscribe(ctx context.Context) error {
	if err := c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: c.sweep}); err != nil {
		return err
	}
	return c.updated(ctx)
}

// updated waits until the sweep is reported as changed.
func (c *conversation) updated(ctx context.Context) error {
	for len(c.updates) > 0 {
		<-c.updates
	}
	select {
	case uri := <-c.updates:
		if uri != c.sweep {
			return fmt.Errorf("got an update of %s, expected %s", uri, c.sweep)
		}
		return nil
	case <-ctx.Done():
		return errors.New("no update came")
	}
}

// updatedAfterALoss waits for an update after the stream was lost. In the era 2026-07-28, a subscription ends with its stream,
// so the client subscribes again.
func (c *conversation) updatedAfterALoss(ctx context.Context) error {
	if c.legacy {
		return c.updated(ctx)
	}
	if err := c.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: c.sweep}); err != nil {
		return err
	}
	return c.subscribe(ctx)
}

// again repeats a call until it succeeds or the time is up: the first request might be sent on a connection that is being closed.
func again(ctx context.Context, work func() error) error {
	for {
		err := work()
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *conversation) resumeAfterACut(ctx context.Context) error {
	over := make(chan error, 1)
	wait := func() error {
		_, err := c.call(ctx, "job_show", arguments{"job": c.job, "wait_s": 5}, "cut")
		return err
	}
	if c.legacy {
		go func() { over <- wait() }()
		for len(c.seen("cut")) == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := ask("cut"); err != nil {
		return err
	}
	if !c.legacy {
		over <- again(ctx, wait)
	}
	if err := <-over; err != nil {
		return err
	}
	return c.updatedAfterALoss(ctx)
}

func (c *conversation) resumeAfterARestart(ctx context.Context) error {
	if err := ask("restart"); err != nil {
		return err
	}
	if err := c.list(ctx); err != nil {
		return err
	}
	if err := c.updatedAfterALoss(ctx); err != nil {
		return err
	}
	_, err := c.call(ctx, "job_cancel", arguments{"job": c.job}, nil)
	return err
}

// step runs a step and prints its result; after a failure, it ends the program.
func step(name string, work func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := work(ctx); err != nil {
		fmt.Printf("failed %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	fmt.Println("ok " + name)
}

func main() {
	url, era, model := os.Args[1], os.Args[2], os.Args[3]
	talk := &conversation{model: model, updates: make(chan string, 1000), progress: map[any][]float64{}}
	step("connect", func(ctx context.Context) error { return talk.connect(ctx, url, era) })
	step("list", talk.list)
	step("call with progress", talk.callWithProgress)
	step("cancel", talk.cancel)
	step("subscribe", talk.subscribe)
	step("resume after a cut", talk.resumeAfterACut)
	step("resume after a restart", talk.resumeAfterARestart)
	talk.session.Close()
}
