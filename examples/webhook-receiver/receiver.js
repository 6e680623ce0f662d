/**
 * A receiver of webhooks, with nothing but Node:
 *
 *   SECRET='the secret of the webhook' PORT=8090 node examples/webhook-receiver/receiver.js
 *
 * It prints each event as a line of JSON, once. Where it refuses one, stderr and the answer say why.
 * It keeps the bytes of the body as they came, checks the signature over them, and only then parses.
 */
import { createServer } from 'node:http'
import { verifySignature } from 'streamvault/verify-signature'

const { SECRET: secret = '', PORT: port = '8090', MAX_AGE_HOURS: maxAgeHours = '48' } = process.env

/** Longer bodies are refused before they are read. */
const bodyBytesMax = 1_048_576
/** As much of them is read and thrown away, so that the answer arrives. */
const unreadBytesMax = 16 * bodyBytesMax
/** Older events are refused: a delivery that somebody recorded cannot be sent again later. */
const ageMsMax = Number(maxAgeHours) * 3_600_000
/** How far the clock of the service may be ahead of ours. */
const aheadMsMax = 300_000
/**
 * Events that were seen: a delivery comes again when its answer did not arrive. The oldest is
 * forgotten first.
 */
const seen = new Set()
const seenMax = 100_000

if (secret === '') {
  console.error('set SECRET to the secret of the webhook')
  process.exit(2)
}

const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
  // Where it fails, the connection is broken.
  take(request, response).catch(() => response.destroy())
})

async function take(request, response) {
  const { status, remark } = await answerTo(request)
  if (remark !== undefined) console.error(`${status} ${remark}`)
  // The remark is answered, too: the service shows it with the delivery.
  response.writeHead(status).end(remark)
  // What is still coming is thrown away, so that the answer arrives.
  let left = unreadBytesMax
  request.on('data', (chunk) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
}

/** Resolves with the status of the answer, and with what to say about it. */
async function answerTo(request) {
  if (request.method !== 'POST') return { status: 405, remark: 'the method is not POST' }
  const length = request.headers['content-length']
  if (length === undefined) return { status: 411, remark: 'the length of the body is missing' }
  if (Number(length) > bodyBytesMax) return { status: 413, remark: 'the body is too long' }
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return answerToBody(Buffer.concat(chunks), request.headers)
}

function answerToBody(body, headers) {
  if (!verifySignature({ body, headers }, secret)) {
    return { status: 401, remark: 'the signature does not fit: is SECRET the secret of this webhook?' }
  }
  const event = eventOf(body)
  if (event === undefined) return { status: 400, remark: 'the body is not an event' }
  const ageMs = Date.now() - event.sentMs
  if (ageMs > ageMsMax) return { status: 400, remark: 'the event is too old' }
  if (ageMs < -aheadMsMax) return { status: 400, remark: 'the event is of the future: compare the clocks' }
  if (seen.has(event.id)) return { status: 200, remark: 'the event was seen before' }
  // Where it fails, the event is not seen yet: the delivery comes again.
  handle(body.toString())
  if (seen.size >= seenMax) seen.delete(seen.values().next().value)
  seen.add(event.id)
  return { status: 204 }
}

/** What identifies an event, and its time; undefined: it is none. */
function eventOf(body) {
  try {
    const { eventId, event_type: eventType, timestamp, data } = JSON.parse(body.toString())
    const { id: resourceId } = data
    // The emitted format has no id of the event, and no Z behind its time.
    const id = eventId ?? `${eventType} ${resourceId} ${timestamp}`
    const sentMs = Date.parse(`${timestamp.replace(/Z$/, '')}Z`)
    return Number.isNaN(sentMs) ? undefined : { id, sentMs }
  } catch {
    return undefined
  }
}

/**
 * Put your work here. Answer soon, and work later: after 30 seconds without an answer the delivery
 * comes again.
 */
function handle(line) {
  console.log(line)
}

server.listen(Number(port), '127.0.0.1', () => {
  console.error(`listening on port ${server.address().port}`)
})
