import { flag, newField, part, text, type ValueOf } from '../../src/contracts/definitions/fields.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'
import { sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { address, hasScheme } from '../fields/addresses.ts'
import {
  keyPair,
  login,
  membersOf,
  refinedCredentials,
  refusePlain,
  tlsFields,
} from '../fields/credentials.ts'
import { startFrom } from '../fields/positions.ts'

const subjectLengthMax = 1_000
const nameLengthMax = 200

/** Characters of a file with a JWT, which names all permissions of its user. */
const credentialsLengthMax = 20_000

/** Tokens with dots between them; `*` stands for a whole one, `>` for all from the last one on. */
const subjectFilter = newField<string>(
  (value, key, problems) => {
    const tokens =
      typeof value === 'string' && value.length <= subjectLengthMax ? value.split('.') : ['']
    const fits = tokens.every((token, index) => {
      if (token === '*' || (token === '>' && index === tokens.length - 1)) return true
      return /^[^\s\p{Cc}*>]+$/u.test(token)
    })
    if (!fits) problems.add(key, 'must be a subject such as plants.*.boiler or plants.>')
  },
  { type: 'string', minLength: 1, maxLength: subjectLengthMax },
)

/** The name of a stream, a consumer or a domain: a token of subjects. */
const name = newField<string>(
  (value, key, problems) => {
    const fits = typeof value === 'string' && /^[^\s\p{Cc}.*>/\\]+$/u.test(value)
    if (fits && value.length <= nameLengthMax) return
    problems.add(
      key,
      `must be a name of 1 to ${nameLengthMax} characters, without spaces . * > / \\`,
    )
  },
  { type: 'string', minLength: 1, maxLength: nameLengthMax },
)

/** A seed of a user: NKeys are in base 32, and begin with what they are of. */
const nkey = newField<string>(
  (value, key, problems) => {
    if (value === secretMark || (typeof value === 'string' && /^SU[A-Z2-7]{56}$/.test(value)))
      return
    problems.add(key, 'must be the seed of an NKey of a user: it begins with SU')
  },
  { type: 'string' },
)

const credentialsFile = newField<string>(
  (value, key, problems) => {
    if (value === secretMark) return
    const isText = typeof value === 'string' && value.length <= credentialsLengthMax
    if (isText && /BEGIN NATS USER JWT[^]+BEGIN USER NKEY SEED/.test(value)) return
    problems.add(key, 'must be the text of a credentials file: a JWT of a user and its NKey')
  },
  { type: 'string', maxLength: credentialsLengthMax },
)

/** One way to be let in, a certificate with its key, or both. */
const credentials = refinedCredentials(
  part({
    ...login,
    token: { ...text, isSecret: true, doc: 'A token.' },
    nkey: { ...nkey, isSecret: true, doc: 'The seed of an NKey of a user.' },
    credentialsFile: {
      ...credentialsFile,
      isSecret: true,
      doc: 'The text of a file with a JWT of a user and its NKey.',
    },
    ...keyPair,
  }),
  (value) => {
    const { has, hasAll } = membersOf(value)
    const isWhole = hasAll('username', 'password') && hasAll('certificate', 'privateKey')
    const count = ['username', 'token', 'nkey', 'credentialsFile'].filter(has).length
    if (isWhole && (count === 1 || (count === 0 && has('certificate')))) return undefined
    return 'must have username and password, token, nkey or credentialsFile, or certificate and privateKey'
  },
)

export type NatsCredentials = ValueOf<typeof credentials>

/** Streams of NATS JetStream. */
export const natsSource = sourceKind({
  name: 'NatsSource',
  family: 'events',
  protocols: ['nats'],
  tells: ['topic', 'header', 'time', 'event'],
  fields: {
    endpoint: {
      ...address('nats', 'tls'),
      isRequired: true,
      doc: '`nats://host:port`, or `tls://` with TLS. The port is 4222 if nothing is said',
    },
    topic: {
      ...subjectFilter,
      isRequired: true,
      doc: 'the subjects that are read: `*` stands for one token, `>` for all from the last one on. With either, the same reading [on two subjects](external-brokers.md#several-devices-on-one-filter) is two readings',
    },
    stream: { ...name, doc: 'the name of the stream, where several keep the topic' },
    startFrom: {
      ...startFrom,
      default: 'earliest',
      doc: '`earliest`: what the stream holds, too. `latest`: what comes from now on. It is of no use once something was read',
    },
    group: {
      ...name,
      doc: 'the name of a durable consumer that others may take from, too, see below',
    },
    domain: { ...name, doc: 'the domain of JetStream, behind a leaf node say' },
    credentials: {
      ...credentials,
      doc: 'one of `username` with `password`, `token`, `nkey` (a seed: `SU…`) or `credentialsFile` (the text of a `.creds` file); a `certificate` with its `privateKey`, in PEM; or both',
    },
    tls: {
      ...part({
        ...tlsFields,
        handshakeFirst: {
          ...flag,
          default: false,
          doc: 'Whether TLS begins before the server has said anything.',
        },
      }),
      doc: 'the `ca` to trust, the `servername` to expect, and `handshakeFirst`: `true` where the server is set up so',
    },
  },
  takesSeveralTopics: ({ topic }) =>
    typeof topic === 'string' && topic.split('.').some((token) => token === '*' || token === '>'),
  checkAll: (source, problems) => {
    const { endpoint } = source
    if (typeof endpoint !== 'string' || hasScheme(endpoint, 'tls')) return
    refusePlain(source, 'needs an endpoint of tls', problems)
  },
})
