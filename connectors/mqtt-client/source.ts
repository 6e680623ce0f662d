import { integer, newField, text } from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { hasScheme } from '../fields/addresses.ts'
import { brokerCredentials, refusePlain, tls } from '../fields/credentials.ts'

const identifierLengthMax = 200

const schemes = ['mqtt:', 'mqtts:', 'ws:', 'wss:']

/** The endpoint of a broker that somebody else runs: there are no credentials in it. */
const endpoint = newField<string>(
  (value, key, problems) => {
    const url = typeof value === 'string' ? URL.parse(value) : null
    const isWebSocket = url?.protocol === 'ws:' || url?.protocol === 'wss:'
    const hasPath = url !== null && url.pathname !== '' && url.pathname !== '/'
    const hasRest = (hasPath || url?.search !== '') && !isWebSocket
    if (url === null || url.hostname === '' || !schemes.includes(url.protocol) || hasRest) {
      problems.add(key, 'must be an address such as mqtt://host:port: mqtt, mqtts, ws or wss')
    } else if (url.username !== '' || url.password !== '') {
      problems.add(key, 'must not hold credentials: they have a key of their own')
    } else if (url.hash !== '') problems.add(key, 'must not have a fragment')
  },
  { type: 'string', format: 'uri' },
)

/** A filter of MQTT topics: `+` stands for a whole level, `#` for all from the last one on. */
const topicFilter = newField<string>(
  (value, key, problems) => {
    const levels = typeof value === 'string' && value.length <= 1_000 ? value.split('/') : []
    const fits =
      levels.join('') !== '' &&
      levels.every((level, index) => {
        if (level === '+' || (level === '#' && index === levels.length - 1)) return true
        return !/[+#\0]/.test(level)
      })
    if (!fits) problems.add(key, 'must be a topic; + and # stand for complete levels')
  },
  { type: 'string', minLength: 1, maxLength: 1_000 },
)

/** What a broker knows us by: sent as UTF-8, of which MQTT takes no control characters. */
const identifier = newField<string>(
  (value, key, problems) => {
    const fits = typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value)
    if (fits && value.length <= identifierLengthMax) return
    problems.add(key, `must be a text of 1 to ${identifierLengthMax} characters, none a control`)
  },
  { type: 'string', minLength: 1, maxLength: identifierLengthMax },
)

/** MQTT 5, section 4.8.2: a level of a topic filter. */
const sharedGroup = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && /[/+#]/.test(value)) {
      problems.add(key, 'must not have / + or #')
    } else identifier.rule(value, key, problems)
  },
  { ...identifier.schema, pattern: '^[^/+#]+$' },
)

const retained = newField<'skip' | 'keep'>(
  (value, key, problems) => {
    if (value !== 'skip' && value !== 'keep') problems.add(key, 'must be skip or keep')
  },
  { enum: ['skip', 'keep'] },
)

const version = newField<3 | 4 | 5 | 'auto'>(
  (value, key, problems) => {
    if (value === 'auto' || value === 3 || value === 4 || value === 5) return
    problems.add(key, "must be 3, 4, 5 or 'auto'")
  },
  { enum: [3, 4, 5, 'auto'] },
)

/** Devices that publish: to us, over MQTT or HTTP, or to a broker of MQTT that somebody else runs. */
export const deviceSource = sourceKind({
  name: 'DeviceSource',
  family: 'device',
  protocols: ['mqtt', 'http'],
  tells: ['topic', 'header', 'query'],
  isUsual: true,
  takes: ({ protocol = 'mqtt' }) => protocol === 'mqtt' || protocol === 'http',
  secretPlaces: ['endpoint'],
  fields: {
    deviceId: { ...text, doc: 'a name of the device, for you' },
    topic: {
      ...topicFilter,
      doc: 'the filter to subscribe to; `+` and `#` stand for complete levels. Required with an `endpoint`',
    },
    endpoint: {
      ...endpoint,
      doc: '`mqtt://`, `mqtts://`, `ws://` or `wss://`, host and port (1883, 8883, 80, 443 when left out); a WebSocket may have a path, often `/mqtt`, and a query, with [secrets](api-pull.md#secrets-in-other-places) as `${name}`',
    },
    credentials: {
      ...brokerCredentials,
      doc: '`username` and `password`, or `certificate` and `privateKey` (PEM, no pass phrase), or all four',
    },
    qos: {
      ...newField<0 | 1 | 2>(integer(0, 2).rule, integer(0, 2).schema),
      default: 1,
      doc: 'the highest that messages come with. With 0 the broker keeps nothing for us',
    },
    clientId: {
      ...identifier,
      doc: '`streamvault-` and the id of the stream when left out. No two clients of a broker may have the same',
    },
    sharedGroup: {
      ...sharedGroup,
      doc: 'subscribes to `$share/GROUP/TOPIC`: the broker divides the messages among all in the group',
    },
    retained: {
      ...retained,
      doc: '`skip` leaves out what the broker sends because it was retained, which may be from long ago; `keep` takes it. `skip` when left out and readings have no time of their own (no `timestampField`)',
    },
    version: {
      ...version,
      default: 'auto',
      doc: '`5`, `4` (MQTT 3.1.1), `3` (MQTT 3.1) or `auto`: 5, and 3.1.1 where the broker refuses it',
    },
    tls: {
      ...tls,
      doc: '`ca`: whom to trust, PEM; the usual authorities when left out. `servername`: whom to expect where that is not the host',
    },
  },
  takesSeveralTopics: ({ protocol, topic }) =>
    protocol !== 'http' &&
    typeof topic === 'string' &&
    topic.split('/').some((level) => level === '+' || level === '#'),
  ownTopicOf: ({ topic, endpoint: address, protocol }) => {
    const isOurs = address === undefined && protocol !== 'http'
    return isOurs && typeof topic === 'string' ? topic : undefined
  },
  checkAll: checkBrokerSource,
  unsupported: refuseUnsupported,
})

/** Says what is wrong with keys beside each other. */
function checkBrokerSource(source: Json, problems: Problems): void {
  const { endpoint: address, topic, protocol } = source
  if (address === undefined) return
  if (protocol !== undefined && protocol !== 'mqtt') {
    problems.add('protocol', 'must be mqtt where there is an endpoint of a broker')
  }
  if (topic === undefined) problems.add('topic', 'is required with an endpoint')
  else if (typeof topic === 'string' && topic.startsWith('$share/')) {
    problems.add('topic', 'must not name a group: sharedGroup does')
  }
  const isSecure = hasScheme(address, 'mqtts') || hasScheme(address, 'wss')
  if (typeof address !== 'string' || isSecure) return
  refusePlain(source, 'needs an endpoint of mqtts or wss', problems)
}

/** Keys that only count where a broker is named. */
const brokerKeys = [
  'credentials',
  'qos',
  'clientId',
  'sharedGroup',
  'retained',
  'version',
  'tls',
  'secrets',
]

/** Refuses what would be stored of a device that publishes to us, and then not be done. */
function refuseUnsupported(source: Json, problems: Problems): void {
  const { protocol, endpoint: address } = source
  if (protocol !== undefined && protocol !== 'mqtt' && protocol !== 'http') {
    problems.add('protocol', 'this version takes mqtt, http and databases')
  }
  if (address !== undefined) return
  const isMqtt = protocol === undefined || protocol === 'mqtt'
  const idle = isMqtt ? brokerKeys : [...brokerKeys, 'topic']
  for (const key of Object.keys(source)) {
    if (idle.includes(key)) problems.add(key, 'this version only takes pushed readings')
  }
}
