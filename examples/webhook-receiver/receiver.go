// A receiver of webhooks, with nothing but Go (1.18 or newer):
//
//	SECRET='the secret of the webhook' PORT=8090 go run examples/webhook-receiver/receiver.go
//
// It prints each event as a line of JSON, once. Where it refuses one, stderr and the answer say why.
// It keeps the bytes of the body as they came, checks the signature over them, and only then parses.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// Longer bodies are refused before they are read.
	bodyBytesMax = 1_048_576
	// How far the clock of the service may be ahead of ours.
	aheadMax = 5 * time.Minute
	// Events that were seen: a delivery comes again when its answer did not arrive. The oldest is
	// forgotten first.
	seenMax = 100_000
)

type receiver struct {
	secret []byte
	// Older events are refused: a delivery that somebody recorded cannot be sent again later.
	ageMax time.Duration

	lock  sync.Mutex
	seen  map[string]bool
	order []string
}

type event struct {
	EventID   string `json:"eventId"`
	EventType string `json:"event_type"`
	Timestamp string `json:"timestamp"`
	Data      *struct {
		ID any `json:"id"`
	} `json:"data"`
}

func (r *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	status, remark := r.answerTo(request)
	if remark != "" {
		fmt.Fprintln(os.Stderr, status, remark)
	}
	response.Header().Set("Content-Type", "text/plain")
	response.WriteHeader(status)
	// The remark is answered, too: the service shows it with the delivery.
	io.WriteString(response, remark)
}

// The status of the answer, and what to say about it.
func (r *receiver) answerTo(request *http.Request) (int, string) {
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, "the method is not POST"
	}
	if request.Header.Get("Content-Length") == "" {
		return http.StatusLengthRequired, "the length of the body is missing"
	}
	if request.ContentLength > bodyBytesMax {
		return http.StatusRequestEntityTooLarge, "the body is too long"
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return http.StatusBadRequest, "the body is not complete"
	}
	if !r.isSigned(body, request.Header) {
		return http.StatusUnauthorized, "the signature does not fit: is SECRET the secret of this webhook?"
	}
	id, sent, err := eventOf(body)
	if err != nil {
		return http.StatusBadRequest, "the body is not an event"
	}
	age := time.Since(sent)
	if age > r.ageMax {
		return http.StatusBadRequest, "the event is too old"
	}
	if age < -aheadMax {
		return http.StatusBadRequest, "the event is of the future: compare the clocks"
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.seen[id] {
		return http.StatusOK, "the event was seen before"
	}
	// Where it fails, the event is not seen yet: the delivery comes again.
	handle(string(body))
	if len(r.order) >= seenMax {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	r.seen[id] = true
	r.order = append(r.order, id)
	return http.StatusNoContent, ""
}

// Whether the signature fits. There are two while a secret is replaced.
func (r *receiver) isSigned(body []byte, header http.Header) bool {
	mac := hmac.New(sha256.New, r.secret)
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	found := false
	for _, name := range []string{"X-Service-Signature", "X-Service-Signature-Next"} {
		given := strings.TrimPrefix(header.Get(name), "sha256=")
		found = hmac.Equal([]byte(given), expected) || found
	}
	return found
}

// What identifies an event, and its time.
func eventOf(body []byte) (string, time.Time, error) {
	var found event
	if err := json.Unmarshal(body, &found); err != nil {
		return "", time.Time{}, err
	}
	if found.Data == nil {
		return "", time.Time{}, errors.New("it has no data")
	}
	// The emitted format has no id of the event, and no Z behind its time.
	sent, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(found.Timestamp, "Z"))
	id := found.EventID
	if id == "" {
		id = fmt.Sprint(found.EventType, " ", found.Data.ID, " ", found.Timestamp)
	}
	return id, sent, err
}

// Put your work here. Answer soon, and work later: after 30 seconds without an answer the delivery
// comes again.
func handle(line string) {
	fmt.Println(line)
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func stopWith(remark any) {
	fmt.Fprintln(os.Stderr, remark)
	os.Exit(2)
}

func main() {
	secret := os.Getenv("SECRET")
	if secret == "" {
		stopWith("set SECRET to the secret of the webhook")
	}
	hours, err := strconv.ParseFloat(setting("MAX_AGE_HOURS", "48"), 64)
	if err != nil {
		stopWith(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "8090"))
	if err != nil {
		stopWith(err)
	}
	fmt.Fprintln(os.Stderr, "listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{
		Handler: &receiver{
			secret: []byte(secret),
			ageMax: time.Duration(hours * float64(time.Hour)),
			seen:   map[string]bool{},
		},
		ReadTimeout: 30 * time.Second,
	}
	stopWith(server.Serve(listener))
}
