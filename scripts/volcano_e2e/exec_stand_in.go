// A proxy before a server that does not serve exec: everything is passed on with the administrator's certificate, and
// exec is answered here, by RUNNER NAMESPACE POD CONTAINER COMMAND... Streams are sent when the command has ended; there
// is no standard input. For Volcano's end-to-end suites on one machine; whoever reaches it is administrator.
//
//	exec_stand_in LISTEN SERVER CERTIFICATE KEY RUNNER
package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

var execPath = regexp.MustCompile(`^/api/v1/namespaces/([^/]+)/pods/([^/]+)/exec$`)

const (
	textKey     = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // of RFC 6455
	binaryFrame = 2
	closeFrame  = 8
)

func writeFrame(to *bufio.ReadWriter, kind byte, data []byte) {
	to.WriteByte(0x80 | kind)
	switch size := len(data); {
	case size < 126:
		to.WriteByte(byte(size))
	case size < 1<<16:
		to.WriteByte(126)
		binary.Write(to, binary.BigEndian, uint16(size))
	default:
		to.WriteByte(127)
		binary.Write(to, binary.BigEndian, uint64(size))
	}
	to.Write(data)
	to.Flush()
}

// What the fourth channel says of the end of a command.
func status(failed error) []byte {
	if failed == nil {
		return []byte(`{"metadata":{},"status":"Success"}`)
	}
	code := 1
	if exit, ok := failed.(*exec.ExitError); ok {
		code = exit.ExitCode()
	}
	text, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{},
		"status":   "Failure",
		"reason":   "NonZeroExitCode",
		"message":  fmt.Sprintf("command terminated with non-zero exit code: %v", failed),
		"details": map[string]any{"causes": []any{
			map[string]any{"reason": "ExitCode", "message": strconv.Itoa(code)}}},
	})
	return text
}

func answer(w http.ResponseWriter, key string, command []string) {
	var out, errors bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errors
	failed := cmd.Run()
	log.Printf("%q: %v %q %q", command[1:], failed, out.String(), errors.String())

	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	accept := sha1.Sum([]byte(key + textKey))
	fmt.Fprintf(buffered, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n",
		base64.StdEncoding.EncodeToString(accept[:]))
	buffered.Flush()
	for channel, text := range map[byte][]byte{1: out.Bytes(), 2: errors.Bytes()} {
		if len(text) > 0 {
			writeFrame(buffered, binaryFrame, append([]byte{channel}, text...))
		}
	}
	writeFrame(buffered, binaryFrame, append([]byte{3}, status(failed)...))
	writeFrame(buffered, closeFrame, []byte{0x03, 0xe8})
	buffered.ReadByte() // until the client has closed as well
}

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: exec_stand_in LISTEN SERVER CERTIFICATE KEY RUNNER")
	}
	administrator, err := tls.LoadX509KeyPair(os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	server, err := url.Parse(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.FlushInterval = -1 // watches are told at once
	proxy.Transport = &http.Transport{
		// The server on this machine that run.sh has started.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{administrator}},
		ForceAttemptHTTP2: true,
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pod := execPath.FindStringSubmatch(r.URL.Path)
		if pod == nil {
			proxy.ServeHTTP(w, r)
			return
		}
		asked := r.URL.Query()
		command := append([]string{os.Args[5], pod[1], pod[2], asked.Get("container")}, asked["command"]...)
		answer(w, r.Header.Get("Sec-WebSocket-Key"), command)
	})))
}
