import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type MessagePort, parentPort } from 'node:worker_threads'

/** Answers everything with 204, and tells every 50 ms how many requests have come, and when. */
function run(port: MessagePort): void {
  let received = 0
  const server = createServer((request, response) => {
    received++
    request.resume()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1', () => {
    port.postMessage({ port: (server.address() as AddressInfo).port })
    setInterval(() => port.postMessage({ received, atMs: performance.now() }), 50)
  })
}

if (parentPort) run(parentPort)
