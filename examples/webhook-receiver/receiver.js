/**
 * A receiver of webhooks, with nothing but Node:
 *
 *   SECRET='the secret of the webhook' PORT=80 node examples/webhook-receiver/receiver.js
 *
 * It keeps the bytes of the body as they came, checks the signature over them, and only then parses.
 */
import { createServer } from 'node:http'
import { verifySignature } from 'streamvault/verify-signature'

const secret = process.env['SECRET'] ?? ''
/** Longer bodies are refused before they have arrived. */
const bodyBytesMax = 1_048_576
/** Events that were seen: a delivery may come again when its answer has not arrived. */
const seen = new Set()
const seenMax = 10_000

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    // The connection has broken, or the body is no JSON.
    () => response.writeHead(400).end(),
  )
})

/** Resolves with the status of the answer. */
async function take(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) return 413
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks)
  if (!verifySignature({ body, headers: request.headers }, secret)) return 401
  const event = JSON.parse(body.toString())
  // Answer soon, and work later: whoever takes longer than 30 seconds is told again.
  setImmediate(() => handle(event))
  return 204
}

/** The emitted format has no id of the event: data.id and event_type stand for it. */
function handle(event) {
  const id = event.eventId ?? `${event.event_type} ${event.data.id}`
  if (seen.has(id)) return
  if (seen.size >= seenMax) seen.delete(seen.values().next().value)
  seen.add(id)
  console.log(event.event_type ?? event.eventType, JSON.stringify(event.data))
}

server.listen(Number(process.env['PORT'] ?? 8090), '127.0.0.1', () => {
  console.log(`listening on port ${server.address().port}`)
})
