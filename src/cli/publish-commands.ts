import type { Definition } from './infer.ts'
import { payloadOf, type Sample } from './sample.ts'
import type { Session } from './session.ts'
import { shownLines } from './shown-text.ts'

/** Longer payloads come out of their file, where there is one. */
const typedLengthMax = 1_000

/** Content types of what a stream takes, by the format of its source; JSON when it names none. */
const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  cbor: 'application/cbor',
  msgpack: 'application/msgpack',
  plain: 'text/plain',
  csv: 'text/csv',
  'senml-json': 'application/senml+json',
  'senml-cbor': 'application/senml+cbor',
  'line-protocol': 'text/x-influx-line-protocol',
}

/** The content type that readings of a stream have over HTTP; undefined where they come by MQTT only. */
export function contentTypeOf({ source }: Definition): string | undefined {
  return contentTypes[source?.format ?? 'json']
}

/** Who publishes, and where. */
export interface Publisher {
  readonly streamId: string
  readonly deviceId: string
  /** Undefined where it is not known any more. */
  readonly secret: string | undefined
  readonly definition: Definition
  readonly sample: Sample
}

/** Commands for a shell that publish the sample once more; null where there is no way to. */
export interface PublishCommands {
  readonly mqtt: string | null
  readonly http: string | null
}

export function publishCommands(session: Session, publisher: Publisher): PublishCommands {
  return { mqtt: overMqtt(session, publisher), http: overHttp(session, publisher) }
}

/** In place of a secret that is not known: it names what has to be put there. */
const unknownSecret = 'SECRET'

function overMqtt(
  { mqttUrl, authorityFile }: Session,
  { streamId, deviceId, secret = unknownSecret, sample }: Publisher,
): string | null {
  if (mqttUrl === undefined || !/^mqtts?:/.test(mqttUrl)) return null
  const { protocol, hostname, port } = new URL(mqttUrl)
  const isSecure = protocol === 'mqtts:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const { before, mqtt } = contentOf(sample)
  const words = [
    'mosquitto_pub',
    `-h ${shellWord(host)} -p ${port === '' ? (isSecure ? 8883 : 1883) : port}`,
    ...(isSecure && authorityFile !== undefined ? [`--cafile ${shellWord(authorityFile)}`] : []),
    `-u ${shellWord(deviceId)} -P ${shellWord(secret)} -q 1 -t ${shellWord(`streams/${streamId}/data`)}`,
    mqtt,
  ]
  return before + words.join(' ')
}

function overHttp(
  { url, authorityFile }: Session,
  { streamId, deviceId, secret = unknownSecret, definition, sample }: Publisher,
): string | null {
  const type = contentTypeOf(definition)
  if (type === undefined) return null
  const isSecure = url.startsWith('https:')
  const { before, http } = contentOf(sample)
  const words = [
    `curl -sS ${shellWord(`${url.replace(/\/+$/, '')}/streams/${streamId}/data`)}`,
    ...(isSecure && authorityFile !== undefined ? [`--cacert ${shellWord(authorityFile)}`] : []),
    `-u ${shellWord(`${deviceId}:${secret}`)} -H 'content-type: ${type}'`,
    http,
  ]
  return before + words.join(' ')
}

interface Content {
  /** A command whose output the other one reads. */
  readonly before: string
  readonly mqtt: string
  readonly http: string
}

/** How each program gets the payload: among its arguments, out of the file, or out of a pipe when it is binary. */
function contentOf(sample: Sample): Content {
  const payload = payloadOf(sample)
  const { text, file } = sample
  const isTypable = text !== undefined && shownLines(text) === text
  if (isTypable && (payload.length <= typedLengthMax || file === undefined)) {
    const typed = shellWord(payload.toString('utf8'))
    return { before: '', mqtt: `-m ${typed}`, http: `--data-raw ${typed}` }
  }
  if (file !== undefined && payload.equals(sample.bytes)) {
    // The line end at its end does no harm.
    return {
      before: '',
      mqtt: `-f ${shellWord(file)}`,
      http: `--data-binary ${shellWord(`@${file}`)}`,
    }
  }
  const bytes = [...payload].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  return { before: `printf '${bytes}' | `, mqtt: '-s', http: '--data-binary @-' }
}

/** A word of a shell that stands for exactly this text. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
