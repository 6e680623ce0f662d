import { X509Certificate } from 'node:crypto'
import {
  duration,
  integer,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  text,
} from '../definition-problems.ts'
import { timeout } from './http-rules.ts'
import { credentials, type SourceRules, schedule, timezone } from './source-rules.ts'

const statementLengthMax = 20_000

/** Rows of one page. */
const pageSizeMax = 50_000

/** Rows that are remembered to have been read: all of them are in the journal with each page. */
const lookBehindMax = 20_000

/** `host:port/database`, or the path of a file. */
const address: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && value.length <= 500
  if (fits && /^((\[[\da-fA-F:.]+\]|[^\s/:@[\]]+)(:\d{1,5})?)?\/[^\s]+$/.test(value)) return
  problems.add(key, 'must be host:port/database, or the path of a file')
}

const columnName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[A-Za-z_][\w$]{0,127}$/.test(value)) return
  problems.add(key, 'must be the name of a column')
}

const authorities: Rule = (value, key, problems) => {
  try {
    if (typeof value === 'string' && value.length <= 20_000 && new X509Certificate(value)) return
  } catch {}
  problems.add(key, 'must be certificates in PEM')
}

const tls: Rule = (value, key, problems) => {
  if (typeof value === 'boolean') return
  part({ ca: authorities, servername: text })(value, key, problems)
}

const lookBehind: Rule = (value, key, problems) => {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= lookBehindMax) return
  const isDuration = typeof value === 'string' && /^\d{1,6}(s|m|h|d)$/.test(value)
  if (isDuration) return
  problems.add(key, `must be a duration such as 30s, or a number of rows up to ${lookBehindMax}`)
}

const statement: Rule = (value, key, problems) => {
  const fits =
    typeof value === 'string' && value.trim() !== '' && value.length <= statementLengthMax
  if (!fits) problems.add(key, `must be a statement of at most ${statementLengthMax} characters`)
}

/** Names of PostgreSQL that need no quotes, and those of replication slots. */
const tableName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^([A-Za-z_][\w$]{0,62}\.)?[A-Za-z_][\w$]{0,62}$/.test(value))
    return
  problems.add(key, 'must be the name of a table, such as public.readings')
}

const slotName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[a-z0-9_]{1,63}$/.test(value)) return
  problems.add(key, 'must be 1 to 63 of a-z, 0-9 and _')
}

/** @param follow `log`: changes of a table are read out of the log of its server, and nothing is asked */
export function databaseSource(protocols: readonly string[], follow?: unknown): SourceRules {
  return follow === 'log' ? followedSource : polledSource(protocols)
}

const followedSource: SourceRules = {
  rules: {
    protocol: oneOf('postgres'),
    follow: oneOf('log'),
    endpoint: address,
    credentials,
    tls,
    table: tableName,
    publication: slotName,
    slot: slotName,
    changes: oneOf('insert', 'insert_update'),
    timezone,
  },
  required: ['protocol', 'endpoint', 'credentials', 'table'],
  checkAll: checkDatabaseSource,
}

function polledSource(protocols: readonly string[]): SourceRules {
  return {
    rules: {
      protocol: oneOf(...protocols),
      follow: oneOf('poll', 'log'),
      endpoint: address,
      credentials,
      tls,
      query: statement,
      incrementalColumn: columnName,
      keyColumn: columnName,
      lookBehind,
      nulls: oneOf('skip', 'refuse'),
      pageSize: integer(1, pageSizeMax),
      statementTimeout: timeout,
      schedule,
      timezone,
      jitter: duration,
    },
    required: ['protocol', 'endpoint', 'query', 'schedule'],
    secretPlaces: ['query'],
    checkAll: checkDatabaseSource,
  }
}

function checkDatabaseSource(source: Json, problems: Problems): void {
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

/**
 * What is put into quotes, and comments, up to the end where one is not closed: else the end would be looked for
 * from each beginning. In MySQL a backslash takes the meaning from a quote.
 */
const opaque = {
  mysql:
    /'(?:[^'\\]|\\.?|'')*(?:'|$)|"(?:[^"\\]|\\.?|"")*(?:"|$)|`[^`]*(?:`|$)|(?:--\s|#)[^\n]*|\/\*.*?(?:\*\/|$)/gs,
  others:
    /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\[[^\]]*(?:\]|$)|\$(\w*)\$.*?\$\1\$|--[^\n]*|\/\*.*?(?:\*\/|$)/gs,
} as const

/**
 * Says early what a server would say: that it is one statement, and one that reads. What keeps it from writing is the
 * read-only session.
 */
function queryProblem(query: string, protocol: string): string | undefined {
  if (protocol === 'mssql') return transactSqlProblem(query)
  const isMysql = protocol === 'mysql' || protocol === 'mariadb'
  const bare = query.replaceAll(isMysql ? opaque.mysql : opaque.others, ' ').trim()
  if (bare === '') return undefined
  if (/;\s*[^\s;]/.test(bare)) return 'must be one statement'
  if (!/^[\s(]*(select|with|table|values)\b/i.test(bare)) return 'must be a SELECT'
  return undefined
}

const opaqueInTransactSql = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\]/g

/**
 * SQL Server runs several statements at once, even without a semicolon between them. The query stands in parentheses, out
 * of which nothing can get that has as many of them as it should: where a comment ends is not left to be guessed.
 */
function transactSqlProblem(query: string): string | undefined {
  const bare = query.replaceAll(opaqueInTransactSql, ' ').replace(/[\s;]+$/, '')
  if (bare.trim() === '') return undefined
  if (/--|\/\*/.test(bare)) return 'must have no comments'
  if (/['"[]/.test(bare)) return 'has a quote that does not end'
  if (bare.includes(';') || !isBalanced(bare)) return 'must be one statement'
  if (!/^[\s(]*select\b/i.test(bare)) return 'must be a SELECT'
  return undefined
}

function isBalanced(bare: string): boolean {
  let depth = 0
  for (const [sign] of bare.matchAll(/[()]/g)) {
    depth += sign === '(' ? 1 : -1
    if (depth < 0) return false
  }
  return depth === 0
}
