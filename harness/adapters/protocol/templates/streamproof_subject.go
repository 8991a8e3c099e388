// Speaks streamproof's process protocol in Go, with the standard library alone: a program to begin with. Put your client in the
// place of `chat`, which asks for a Chat stream and puts the text, the finish reason and the counts together.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Asked is what the harness says: describe, run or stop.
type Asked struct {
	Op       string         `json:"op"`
	ID       string         `json:"id"`
	Dialect  string         `json:"dialect"`
	BaseURL  string         `json:"base_url"`
	Request  map[string]any `json:"request"`
	Model    string         `json:"model"`
	TimeoutS float64        `json:"timeout_s"`
}

// Response is what the client made of the turn.
type Response struct {
	Text         string         `json:"text"`
	Reasoning    *string        `json:"reasoning"`
	ToolCalls    []Call         `json:"tool_calls"`
	FinishReason *string        `json:"finish_reason"`
	Usage        map[string]int `json:"usage"`
}

// Call is a call of a tool; Arguments is its text, or the value where the client parsed it.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// Failure is how the client said that the turn failed.
type Failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Said answers a run.
type Said struct {
	ID       string    `json:"id"`
	Response *Response `json:"response"`
	Error    *Failure  `json:"error"`
}

func main() {
	say := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // what the client prints must not stand among the answers
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked Asked
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		switch asked.Op {
		case "describe":
			say.Encode(map[string]any{"name": "go", "version": "1", "language": "go", "dialects": []string{"openai-chat"}})
		case "run":
			said := Said{ID: asked.ID}
			if response, err := chat(asked); err != nil {
				said.Error = &Failure{Type: fmt.Sprintf("%T", err), Message: err.Error()}
			} else {
				said.Response = response
			}
			say.Encode(said)
		case "stop":
			return
		}
	}
}

type chunk struct {
	Error   *struct{ Message string } `json:"error"`
	Choices []struct {
		Delta        struct{ Content string }
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

func chat(asked Asked) (*Response, error) {
	asked.Request["stream"] = true
	body, err := json.Marshal(asked.Request)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: time.Duration(asked.TimeoutS * float64(time.Second))}
	answer, err := client.Post(asked.BaseURL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("status %d: %s", answer.StatusCode, said)
	}
	return gathered(bufio.NewReaderSize(answer.Body, 1<<20))
}

func gathered(lines *bufio.Reader) (*Response, error) {
	response := Response{ToolCalls: []Call{}}
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "data: ") {
			data := strings.TrimPrefix(line, "data: ")
			if data == "[DONE]" {
				return &response, nil
			}
			var told chunk
			if err := json.Unmarshal([]byte(data), &told); err != nil {
				return nil, err
			}
			if told.Error != nil {
				return nil, errors.New(told.Error.Message)
			}
			if told.Usage != nil {
				response.Usage = map[string]int{"input_tokens": told.Usage.Prompt, "output_tokens": told.Usage.Completion}
			}
			if len(told.Choices) > 0 {
				response.Text += told.Choices[0].Delta.Content
				if told.Choices[0].FinishReason != nil {
					response.FinishReason = told.Choices[0].FinishReason
				}
			}
		}
		if err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
}
