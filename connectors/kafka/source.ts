import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { newField, oneOf, part, type ValueOf } from '../../src/contracts/definitions/fields.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { brokerCredentials, keyPair, login, tls } from '../fields/credentials.ts'
import { startFrom } from '../fields/positions.ts'

/** Brokers that are asked first where the others are. */
const brokersMax = 20

/** Topics of one stream. */
const topicsMax = 100

const brokerPattern = /^(\[[\da-fA-F:.]+\]|[\w.-]{1,253})(:([1-9]\d{0,4}))?$/

/** `kafka://host:port`, or several hosts with commas between them. */
const brokers = newField<string>(
  (value, key, problems) => {
    const [, list] = typeof value === 'string' ? (/^kafka:\/\/(.{1,2000})$/.exec(value) ?? []) : []
    const each = list?.split(',') ?? []
    const areGood = each.every((one) => {
      const [, , , port = '9092'] = brokerPattern.exec(one) ?? [undefined, '', '', '0']
      return Number(port) > 0 && Number(port) < 65_536
    })
    if (list?.includes('@') === true) {
      problems.add(key, 'must not hold credentials: they have a key of their own')
    } else if (each.length === 0 || each.length > brokersMax || !areGood) {
      problems.add(
        key,
        `must be an address such as kafka://host:port,host:port: ${brokersMax} at most`,
      )
    }
  },
  { type: 'string', pattern: '^kafka://' },
)

/** Names that Kafka takes for a topic. */
const topicPattern = /^(?!\.{1,2}$)[\w.-]{1,249}$/

const topics = newField<string>(
  (value, key, problems) => {
    const each = typeof value === 'string' ? value.split(',') : []
    const areGood = each.every((one) => topicPattern.test(one))
    if (each.length > 0 && each.length <= topicsMax && areGood) return
    problems.add(key, `must be a topic, or up to ${topicsMax} with commas between them`)
  },
  { type: 'string', minLength: 1 },
)

const group = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value)) return
    problems.add(key, 'must be a text of 1 to 255 characters, none a control')
  },
  { type: 'string', minLength: 1, maxLength: 255 },
)

/** Always with a check of who answers: there is no false, and none is needed where there is no TLS. */
const tlsOrTrue = newField<true | ValueOf<typeof tls>>(
  (value, key, problems) => {
    if (value === true) return
    if (isObject(value)) tls.rule(value, key, problems)
    else problems.add(key, 'must be true, or an object with ca and servername')
  },
  { anyOf: [{ const: true }, tls.schema] },
)

const mechanism = oneOf('plain', 'scram-sha-256', 'scram-sha-512')
const withMechanism = part({
  type: { ...mechanism, default: 'plain', doc: 'the mechanism of SASL' },
  ...login,
  ...keyPair,
})

const credentials: typeof withMechanism = {
  ...withMechanism,
  rule: (value, key, problems) => {
    if (!isObject(value)) {
      problems.add(key, 'must be an object')
      return
    }
    const { type, ...rest } = value
    if (type !== undefined) mechanism.rule(type, 'type', problems.within(key))
    if (type !== undefined && rest['username'] === undefined) {
      problems.add(key, 'must have username and password where there is a type')
    } else brokerCredentials.rule(rest, key, problems)
  },
}

/** Topics of Kafka. */
export const kafkaSource = sourceKind({
  name: 'KafkaSource',
  family: 'events',
  protocols: ['kafka'],
  tells: ['topic', 'header', 'key', 'time', 'event'],
  fields: {
    endpoint: {
      ...brokers,
      isRequired: true,
      doc: '`kafka://host:port`, or several with commas between them: whichever answers says where the others are. The port is 9092 if nothing is said',
    },
    topic: {
      ...topics,
      isRequired: true,
      doc: 'the topic, or up to 100 with commas between them. They have to be there. Of several, the same reading [on two topics](external-brokers.md#several-devices-on-one-filter) is two readings',
    },
    group: {
      ...group,
      doc: 'the consumer group. Without it the stream has one of its own, `streamvault-` with its id, which is deleted with the stream',
    },
    startFrom: {
      ...startFrom,
      default: 'earliest',
      doc: '`earliest`: what the topic holds, too. `latest`: what comes after the first start. It counts only where neither the group nor the stream has read anything of the topic',
    },
    tls: {
      ...tlsOrTrue,
      doc: '`true`, or the `ca` to trust and the `servername` to expect. It cannot be had without a check of who answers',
    },
    credentials: {
      ...credentials,
      doc: '`username` and `password` with the `type` `plain` (the default), `scram-sha-256` or `scram-sha-512`; or a `certificate` with its `privateKey`, in PEM; or both',
    },
  },
  takesSeveralTopics: ({ topic }) =>
    typeof topic === 'string' && new Set(topic.split(',')).size > 1,
  checkAll: ({ tls: isSecured, credentials: given, format }, problems) => {
    const isCertified = isObject(given) && given['certificate'] !== undefined
    if (isCertified && isSecured === undefined) {
      problems.add('credentials.certificate', 'needs tls')
    }
    if (format === 'sparkplug') {
      problems.add('format', 'sparkplug comes from brokers of MQTT only')
    }
  },
})

export type KafkaSource = SourceOf<typeof kafkaSource>
