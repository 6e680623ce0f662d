import { type Json, oneOf, type Problems, part, type Rule, text } from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { brokerCredentials, certificates } from './broker.ts'
import type { SourceRules } from './source-rules.ts'

/** Brokers that are asked first where the others are. */
const brokersMax = 20

/** Topics of one stream. */
const topicsMax = 100

const brokerPattern = /^(\[[\da-fA-F:.]+\]|[\w.-]{1,253})(:([1-9]\d{0,4}))?$/

/** `kafka://host:port`, or several hosts with commas between them. */
const brokers: Rule = (value, key, problems) => {
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
}

/** Names of topics that Kafka takes. */
const topicPattern = /^(?!\.{1,2}$)[\w.-]{1,249}$/

const topics: Rule = (value, key, problems) => {
  const each = typeof value === 'string' ? value.split(',') : []
  const areGood = each.every((one) => topicPattern.test(one))
  if (each.length > 0 && each.length <= topicsMax && areGood) return
  problems.add(key, `must be a topic, or up to ${topicsMax} with commas between them`)
}

const group: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value)) return
  problems.add(key, 'must be a text of 1 to 255 characters, none a control')
}

/** Always with a check of who answers: there is no false, and none is needed where there is no TLS. */
const tls: Rule = (value, key, problems) => {
  if (value === true) return
  if (isObject(value)) part({ ca: certificates, servername: text })(value, key, problems)
  else problems.add(key, 'must be true, or an object with ca and servername')
}

const credentials: Rule = (value, key, problems) => {
  if (!isObject(value)) {
    problems.add(key, 'must be an object')
    return
  }
  const { type, ...rest } = value
  if (type !== undefined) {
    oneOf('plain', 'scram-sha-256', 'scram-sha-512')(type, 'type', problems.within(key))
  }
  if (type !== undefined && rest['username'] === undefined) {
    problems.add(key, 'must have username and password where there is a type')
  } else brokerCredentials(rest, key, problems)
}

/** Topics of Kafka. */
export const kafkaSource: SourceRules = {
  rules: {
    endpoint: brokers,
    topic: topics,
    group,
    startFrom: oneOf('earliest', 'latest'),
    tls,
    credentials,
  },
  required: ['endpoint', 'topic'],
  checkAll: checkKafkaSource,
}

function checkKafkaSource(
  { tls: isSecured, credentials: given, format }: Json,
  problems: Problems,
) {
  const isCertified = isObject(given) && given['certificate'] !== undefined
  if (isCertified && isSecured === undefined) problems.add('credentials.certificate', 'needs tls')
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers of MQTT only')
}
