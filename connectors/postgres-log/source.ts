import { newField, oneOf } from '../../src/contracts/definitions/fields.ts'
import { sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { databaseAddress, databaseCredentials, databaseProtocols } from '../database/source.ts'
import { optionalTls } from '../fields/credentials.ts'
import { timezone } from '../fields/time-zones.ts'

/** A name of PostgreSQL that needs no quotes, with its schema perhaps. */
const tableName = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && tablePattern.test(value)) return
    problems.add(key, 'must be the name of a table, such as public.readings')
  },
  { type: 'string', maxLength: 127 },
)

const tablePattern = /^([A-Za-z_][\w$]{0,62}\.)?[A-Za-z_][\w$]{0,62}$/

const slotName = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && slotPattern.test(value)) return
    problems.add(key, 'must be 1 to 63 of a-z, 0-9 and _')
  },
  { type: 'string', pattern: '^[a-z0-9_]{1,63}$' },
)

const slotPattern = /^[a-z0-9_]{1,63}$/

/** Tables of PostgreSQL whose changes are read out of its log. */
export const postgresLogSource = sourceKind({
  name: 'PostgresLogSource',
  family: 'database',
  protocols: ['postgres'],
  takes: ({ protocol, follow }) =>
    follow === 'log' &&
    (protocol === undefined || databaseProtocols.some((known) => known === protocol)),
  fields: {
    protocol: { ...oneOf('postgres'), isRequired: true, doc: 'what is spoken' },
    follow: {
      ...oneOf('log'),
      isRequired: true,
      doc: '`log`. With `poll`, or without it, the table is asked by a `query`: then nothing on this page holds',
    },
    endpoint: {
      ...databaseAddress,
      isRequired: true,
      doc: '`host:port/database`; the port is 5432 where none is given',
    },
    credentials: {
      ...databaseCredentials,
      isRequired: true,
      doc: '`username` and `password` of a user who may replicate',
    },
    tls: {
      ...optionalTls,
      doc: '`true`, or an object with the `ca` to trust and the `servername` to expect',
    },
    table: {
      ...tableName,
      isRequired: true,
      doc: '`schema.table`, or the name of a table in `public`. Upper and lower case count',
    },
    publication: {
      ...slotName,
      doc: 'one that you have made. Without it the service makes its own',
    },
    slot: {
      ...slotName,
      doc: 'the name of the replication slot, of `a-z`, `0-9` and `_`. Without it the name comes from the stream',
    },
    changes: {
      ...oneOf('insert', 'insert_update'),
      default: 'insert',
      doc: '`insert_update`: a row is a reading again each time it is updated',
    },
    timezone: {
      ...timezone,
      default: 'UTC',
      doc: 'of columns of type `timestamp`, which name none',
    },
  },
  checkAll: ({ endpoint }, problems) => {
    if (typeof endpoint !== 'string' || !endpoint.startsWith('/')) return
    problems.add('endpoint', 'must be host:port/database for postgres')
  },
})
