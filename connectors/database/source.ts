import { integer, newField, oneOf, part } from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { login, optionalTls } from '../fields/credentials.ts'
import { timeout } from '../fields/http-requests.ts'
import { sqlLiteral } from '../fields/sql-literals.ts'
import { queryProblem } from '../fields/sql-query.ts'
import { timezone } from '../fields/time-zones.ts'

export const databaseProtocols = ['postgres', 'mysql', 'mariadb', 'sqlite', 'mssql'] as const

const statementLengthMax = 20_000

/** Rows of one page. */
const pageSizeMax = 50_000

/** Rows that are remembered to have been read: all of them are in the journal with each page. */
const lookBehindMax = 20_000

/** `host:port/database`, or the path of a file. */
export const databaseAddress = newField<string>(
  (value, key, problems) => {
    const fits = typeof value === 'string' && value.length <= 500
    if (fits && /^((\[[\da-fA-F:.]+\]|[^\s/:@[\]]+)(:\d{1,5})?)?\/[^\s]+$/.test(value)) return
    problems.add(key, 'must be host:port/database, or the path of a file')
  },
  { type: 'string', maxLength: 500 },
)

/** A user of the database, who may be one that can only read. */
export const databaseCredentials = part({
  username: { ...login.username, isRequired: true },
  password: { ...login.password, isRequired: true },
})

const columnName = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && /^[A-Za-z_][\w$]{0,127}$/.test(value)) return
    problems.add(key, 'must be the name of a column')
  },
  { type: 'string', pattern: String.raw`^[A-Za-z_][\w$]{0,127}$` },
)

const lookBehind = newField<string | number>(
  (value, key, problems) => {
    if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= lookBehindMax) return
    const isDuration = typeof value === 'string' && /^\d{1,6}(s|m|h|d)$/.test(value)
    if (isDuration) return
    problems.add(key, `must be a duration such as 30s, or a number of rows up to ${lookBehindMax}`)
  },
  {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: lookBehindMax },
      { type: 'string', pattern: String.raw`^\d{1,6}(s|m|h|d)$` },
    ],
  },
)

const statement = newField<string>(
  (value, key, problems) => {
    const fits =
      typeof value === 'string' && value.trim() !== '' && value.length <= statementLengthMax
    if (!fits) problems.add(key, `must be a statement of at most ${statementLengthMax} characters`)
  },
  { type: 'string', minLength: 1, maxLength: statementLengthMax },
)

/** Tables that are asked by a schedule. */
export const polledSource = sourceKind({
  name: 'PolledDatabaseSource',
  family: 'database',
  protocols: databaseProtocols,
  isUsual: true,
  isScheduled: true,
  secretPlaces: ['query'],
  takes: ({ protocol, follow }) =>
    databaseProtocols.some((known) => known === protocol) && follow !== 'log',
  inQuery: ({ protocol }, secret) => sqlLiteral(String(protocol), secret),
  fields: {
    follow: {
      ...oneOf('poll', 'log'),
      // The value `log` makes it a source of the other kind.
      schema: { type: 'string', enum: ['poll'] },
      doc: '`log` [follows the log of PostgreSQL](postgres-log.md)',
    },
    endpoint: {
      ...databaseAddress,
      isRequired: true,
      doc: '`host:port/database` (ports 5432, 3306 and 1433 where none is given), or the absolute path of a file',
    },
    credentials: {
      ...databaseCredentials,
      doc: 'not for SQLite, like `tls`. Give a user of the database who may do nothing but read what the query reads',
    },
    tls: {
      ...optionalTls,
      doc: '`true`, or `{"ca": "PEM", "servername": "..."}`: whom to trust instead of the usual authorities, and whom to expect. The certificate is always checked. MySQL and MariaDB need `servername` where the endpoint is an address; without it there is no TLS',
    },
    query: {
      ...statement,
      isRequired: true,
      doc: 'one SELECT (or WITH, TABLE, VALUES), without a LIMIT of its own; `${name}` is the text of one of its [secrets](api-pull.md#secrets-in-other-places), quoted, and a change of the query needs them again',
    },
    incrementalColumn: {
      ...columnName,
      doc: 'only rows behind those that were read are asked for, in the order of this column',
    },
    keyColumn: { ...columnName, doc: 'distinguishes rows with the same value: the primary key' },
    lookBehind: {
      ...lookBehind,
      doc: 'how late a row may be committed ([below](#rows-that-are-committed-late)): `30s`, or 1000 rows, where nothing is said',
    },
    nulls: {
      ...oneOf('skip', 'refuse'),
      default: 'skip',
      doc: 'rows without a value in `incrementalColumn` are left out; `refuse`: the source fails, and says so. Like `lookBehind` only with an `incrementalColumn`',
    },
    pageSize: {
      ...integer(1, pageSizeMax),
      default: 5_000,
      unit: 'rows',
      doc: 'of one page, all of which is in memory: less for long rows',
    },
    timezone: {
      ...timezone,
      default: 'UTC',
      doc: 'of times in the database that name no zone, and of the schedule',
    },
    statementTimeout: {
      ...timeout,
      default: '30s',
      doc: 'after which the server gives up a statement; an hour at most',
    },
  },
  checkAll: checkPolledSource,
})

export type PolledSource = SourceOf<typeof polledSource>

/** Says what is wrong with keys beside each other. */
function checkPolledSource(source: Json, problems: Problems): void {
  const { protocol, endpoint, query, incrementalColumn } = source
  const ofServers = protocol === 'sqlite' ? ['credentials', 'tls'] : []
  for (const key of ofServers) {
    if (source[key] !== undefined) problems.add(key, 'is of no use with a file of SQLite')
  }
  for (const key of ['lookBehind', 'nulls']) {
    const isIdle = source[key] !== undefined && incrementalColumn === undefined
    if (isIdle) problems.add(key, 'needs an incrementalColumn')
  }
  if (typeof endpoint === 'string' && (protocol === 'sqlite') !== endpoint.startsWith('/')) {
    const form = protocol === 'sqlite' ? 'the path of a file' : 'host:port/database'
    problems.add('endpoint', `must be ${form} for ${String(protocol)}`)
  }
  const problem = typeof query === 'string' ? queryProblem(query, String(protocol)) : undefined
  if (problem !== undefined) problems.add('query', problem)
}
