import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ForeignResources } from '../support/foreign-resources.ts'
import {
  exampleBody,
  exampleHeaders,
  halvesOf,
  interfacesOf,
  type Json,
  neededQuery,
  type Operation,
  operationsOf,
} from '../support/openapi-operations.ts'
import { PassingGuest } from '../support/passing-guest.ts'
import { newPerson } from '../support/people.ts'
import { Receiver } from '../support/receiver.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

/** Tables that hold a history, or have rows for each stream: they may have millions of rows. */
const large = new Set([
  'alert_history',
  'alerts',
  'asset_streams',
  'attachments',
  'audit_log',
  'data_stream_deletions',
  'data_stream_tags',
  'data_stream_topics',
  'data_stream_versions',
  'data_streams',
  'deliveries',
  'delivery_attempts',
  'devices',
  'events',
  'idempotency_keys',
  'idempotent_answers',
  'inbox_entries',
  'permissions',
  'quarantine',
  'vault_streams',
  'vaults',
])

/** Scans of a large table that are meant, with the reason. */
const meant: readonly (readonly [statement: RegExp, reason: string])[] = [
  [
    /^select "at" from "audit_log" where .* offset \?$/,
    'the limit of the log, looked at once an hour',
  ],
]

test('no statement reads a whole table that grows', async () => {
  const dataDir = services.newFolder()
  const log = join(services.newFolder(), 'statements')
  const preload = new URL('../support/statement-log.js', import.meta.url).href
  // Migrations, which run once, are none of them.
  await (await services.start(dataDir)).end('SIGTERM')
  const service = await services.start(dataDir, {
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
    NODE_OPTIONS: `--import ${preload}`,
    STATEMENT_LOG: log,
  })
  const api = new ApiClient(service.http)
  const guest = await PassingGuest.arrive({ api, mqttPort: service.mqttPort, receiver, streams: 3 })
  await guest.use()
  await guest.settle()
  await useEveryOperation({ api, process: service })
  await guest.leave()
  // The last that is done for streams that leave.
  await expect
    .poll(() => readFileSync(log, 'utf8'), { timeout: 30_000 })
    .toContain('UPDATE departed_counters')
  await service.end('SIGTERM')

  const state = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  const statements = statementsIn(log)
  expect(statements.length).toBeGreaterThan(300)
  const scans = statements.flatMap((sql) => scansOf(state, sql).map((scan) => [scan, sql]))
  state.close()
  expect(scans.filter(([, sql = '']) => !meant.some(([known]) => known.test(sql)))).toEqual([])
})

async function useEveryOperation(service: {
  readonly api: ApiClient
  readonly process: Awaited<ReturnType<typeof services.start>>
}): Promise<void> {
  const owner = await newPerson(service.api)
  const own = new ForeignResources(service, owner)
  const { body: document } = await service.api.request<Json>('GET', '/openapi.json')
  for (const operation of operationsOf(document).flatMap(halvesOf)) {
    if (interfacesOf(operation).length === 0 || isEndless(operation)) continue
    const isOfOwner = !operation.path.includes('{backupId}')
    const place = isOfOwner
      ? await own.pathOf(operation.path, interfacesOf(operation)[0])
      : `/backups/${randomUUID()}`
    const path = place + neededQuery(operation)
    const { method } = operation
    for (const one of interfacesOf(operation)) {
      const send = one === 'bearer' ? owner.withToken : owner.withKey
      await send(method, path, exampleBody(operation), exampleHeaders(operation))
    }
  }
}

/** Whether its answer is a stream of events, which ends when the caller goes. */
function isEndless({ responses }: Operation): boolean {
  return responses['200']?.content?.['text/event-stream'] !== undefined
}

/** Statements of the state, each once: those with lists of values that differ in length are one. */
function statementsIn(log: string): readonly string[] {
  const lines = new Set(readFileSync(log, 'utf8').trimEnd().split('\n'))
  const found = new Map<string, string>()
  for (const line of lines) {
    const [file, sql] = JSON.parse(line) as [string, string]
    if (basename(file) === 'state.db') found.set(sql.replaceAll(/\?(, \?)+/g, '?'), sql)
  }
  return [...found.values()]
}

/**
 * Tables that a statement reads whole. An index that holds some rows only is meant to be read whole,
 * and the first page of a table in the order of an index ends early.
 */
function scansOf(state: DatabaseSync, sql: string): readonly string[] {
  if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(sql)) return []
  const plan = state.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]
  const isSorted = plan.some(({ detail }) => detail.startsWith('USE TEMP B-TREE'))
  const isFirstPage = /\blimit \?/i.test(sql) && !/\bwhere\b/i.test(sql) && !isSorted
  if (isFirstPage && plan.length === 1) return []
  return plan.flatMap(({ detail }) => {
    const [, name = '', index] =
      /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? []
    const table = tableOf(sql, name)
    if (!large.has(table) || isPartial(state, index)) return []
    return [detail]
  })
}

/** The table behind a name in a statement, which may be an alias. */
function tableOf(sql: string, name: string): string {
  const alias = new RegExp(`"?(\\w+)"? (?:as )?"?${name}"?(?: |$|,)`, 'i').exec(sql)
  return large.has(name) ? name : (alias?.[1] ?? name)
}

function isPartial(state: DatabaseSync, index: string | undefined): boolean {
  if (index === undefined) return false
  const row = state.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(index)
  return / WHERE /i.test(String(row?.['sql']))
}
