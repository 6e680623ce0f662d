import {
  flag,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { secretMark } from '../source-secrets.ts'
import { certificates, fitsItsKey, privateKey } from './broker.ts'
import { address, type SourceRules } from './source-rules.ts'

const subjectLengthMax = 1_000
const nameLengthMax = 200

/** Characters of a file with a JWT, which names all permissions of its user. */
const credentialsLengthMax = 20_000

/** Tokens with dots between them; `*` stands for a whole one, `>` for all from the last one on. */
const subjectFilter: Rule = (value, key, problems) => {
  const tokens =
    typeof value === 'string' && value.length <= subjectLengthMax ? value.split('.') : ['']
  const fits = tokens.every((token, index) => {
    if (token === '*' || (token === '>' && index === tokens.length - 1)) return true
    return /^[^\s\p{Cc}*>]+$/u.test(token)
  })
  if (!fits) problems.add(key, 'must be a subject such as plants.*.boiler or plants.>')
}

/** The name of a stream, a consumer or a domain: a token of subjects. */
const name: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && /^[^\s\p{Cc}.*>/\\]+$/u.test(value)
  if (fits && value.length <= nameLengthMax) return
  problems.add(key, `must be a name of 1 to ${nameLengthMax} characters, without spaces . * > / \\`)
}

/** A seed of a user: NKeys are in base 32, and begin with what they are of. */
const nkey: Rule = (value, key, problems) => {
  if (value === secretMark || (typeof value === 'string' && /^SU[A-Z2-7]{56}$/.test(value))) return
  problems.add(key, 'must be the seed of an NKey of a user: it begins with SU')
}

const credentialsFile: Rule = (value, key, problems) => {
  if (value === secretMark) return
  const isText = typeof value === 'string' && value.length <= credentialsLengthMax
  if (isText && /BEGIN NATS USER JWT[^]+BEGIN USER NKEY SEED/.test(value)) return
  problems.add(key, 'must be the text of a credentials file: a JWT of a user and its NKey')
}

const ways = ['username', 'token', 'nkey', 'credentialsFile']

/** One way to be let in, a certificate with its key, or both. */
const credentials: Rule = (value, key, problems) => {
  const rules = {
    username: text,
    password: text,
    token: text,
    nkey,
    credentialsFile,
    certificate: certificates,
    privateKey,
  }
  part(rules)(value, key, problems)
  if (!isObject(value)) return
  const has = (one: string) => value[one] !== undefined
  const isWhole = has('username') === has('password') && has('certificate') === has('privateKey')
  const count = ways.filter(has).length
  if (!isWhole || count > 1 || (count === 0 && !has('certificate'))) {
    problems.add(
      key,
      'must have username and password, token, nkey or credentialsFile, or certificate and privateKey',
    )
  } else if (!fitsItsKey(value)) {
    problems.add(`${key}.privateKey`, 'does not belong to the certificate')
  }
}

/** Keys of a source that is a stream of NATS JetStream. */
export const natsSource: SourceRules = {
  rules: {
    endpoint: address('nats', 'tls'),
    topic: subjectFilter,
    stream: name,
    domain: name,
    group: name,
    startFrom: oneOf('earliest', 'latest'),
    tls: part({ ca: certificates, servername: text, handshakeFirst: flag }),
    credentials,
  },
  required: ['endpoint', 'topic'],
  checkAll: checkNatsSource,
}

function checkNatsSource({ endpoint, tls, credentials: given }: Json, problems: Problems): void {
  if (typeof endpoint !== 'string' || /^tls:/i.test(endpoint)) return
  const isCertified = isObject(given) && given['certificate'] !== undefined
  if (isCertified) problems.add('credentials.certificate', 'needs an endpoint of tls')
  if (tls !== undefined) problems.add('tls', 'needs an endpoint of tls')
}
