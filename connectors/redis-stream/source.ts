import { part, text } from '../../src/contracts/definitions/fields.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { addressWith, hasScheme } from '../fields/addresses.ts'
import {
  keyPair,
  login,
  membersOf,
  refinedCredentials,
  refusePlain,
  tls,
} from '../fields/credentials.ts'
import { startFrom } from '../fields/positions.ts'

/** A password, with the name of its user or without; a certificate with its key; or both. */
const credentials = refinedCredentials(part({ ...login, ...keyPair }), (value) => {
  const { has, hasAll } = membersOf(value)
  const isWhole = hasAll('certificate', 'privateKey') && (has('password') || !has('username'))
  if (isWhole && (has('password') || has('certificate'))) return undefined
  return 'must have a password, or certificate and privateKey'
})

/** Entries of a stream of Redis. */
export const redisSource = sourceKind({
  name: 'RedisSource',
  family: 'events',
  protocols: ['redis'],
  tells: ['topic', 'header', 'time', 'event'],
  fields: {
    endpoint: {
      ...addressWith(
        ['redis', 'rediss'],
        ({ pathname, search, hash }) => /^(\/\d{0,4})?$/.test(pathname) && search + hash === '',
        'redis://host:port/0, with the number of a database',
      ),
      isRequired: true,
      doc: '`redis://host:port/database`, or `rediss://` with TLS. The port is 6379 and the database 0 if nothing is said',
    },
    topic: {
      ...text,
      isRequired: true,
      doc: 'the key of the stream: one. It need not be there yet',
    },
    startFrom: {
      ...startFrom,
      default: 'earliest',
      doc: '`earliest`: what the stream holds, too. `latest`: what is added from now on. It is of no use once something was read',
    },
    group: {
      ...text,
      doc: 'the name of a consumer group, see below. Without it the stream is read alone',
    },
    payloadField: {
      ...text,
      doc: 'the field of an entry whose value is the payload, see below. Without it all its fields are',
    },
    credentials: {
      ...credentials,
      doc: '`password`, with a `username` (ACL) or without; a `certificate` with its `privateKey`, in PEM; or both',
    },
    tls: { ...tls, doc: 'the `ca` to trust and the `servername` to expect' },
  },
  checkAll: (source, problems) => {
    const { endpoint, format = 'json', payloadField } = source
    if (payloadField === undefined && format !== 'json' && format !== 'csv') {
      problems.add('payloadField', 'is required with this format')
    }
    if (typeof endpoint !== 'string' || hasScheme(endpoint, 'rediss')) return
    refusePlain(source, 'needs an endpoint of rediss', problems)
  },
})

export type RedisSource = SourceOf<typeof redisSource>
