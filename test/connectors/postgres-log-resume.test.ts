import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FetchingSource } from '../support/fetching-source.ts'
import { FollowedTable, reached } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let server: Postgres

beforeAll(async () => {
  server = await Postgres.start()
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const patience = { timeout: 60_000, interval: 20 }

async function kept(follower: FetchingSource, numbers: readonly number[]) {
  await expect
    .poll(() => follower.entries().numbers.length, patience)
    .toBeGreaterThanOrEqual(numbers.length)
  expect(follower.entries()).toMatchObject({ numbers, refused: [] })
}

/** What it has by then may be wrong: that is found out in the end. */
async function caughtUp(follower: FetchingSource, table: FollowedTable) {
  const { length } = await table.notes()
  const deadline = AbortSignal.timeout(2_000)
  while (follower.entries().numbers.length < length && !deadline.aborted) await sleep(10)
}

/** What one of several writers does in one transaction. */
interface Written {
  readonly writer: number
  readonly rows: number
  readonly end: 'COMMIT' | 'ROLLBACK'
  /** Waits for the others before it ends, so that it has begun first and ends last. */
  readonly isLate: boolean
}

/** How a life of the follower ends. */
interface Death {
  readonly after: number
  readonly failures: number
  readonly isWritten: boolean
  /** Whether the network breaks first. */
  readonly isCut: boolean
}

const written: fc.Arbitrary<Written> = fc.record({
  writer: fc.nat(2),
  rows: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1_200, max: 2_600 })),
  end: fc.constantFrom('COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK'),
  isLate: fc.boolean(),
})

const death: fc.Arbitrary<Death> = fc.record({
  after: fc.nat(3),
  failures: fc.nat(1),
  isWritten: fc.boolean(),
  isCut: fc.boolean(),
})

/** Writes from three connections at once; numbers are given once, and those rolled back are never seen. */
class Writers {
  readonly #table: FollowedTable
  readonly #clients: readonly Client[]
  #next = 1

  constructor(table: FollowedTable, clients: readonly Client[]) {
    this.#table = table
    this.#clients = clients
  }

  async write(transactions: readonly Written[]): Promise<void> {
    const early = Promise.withResolvers<void>()
    const byWriter = this.#clients.map((_, index) =>
      transactions.filter(({ writer }) => writer === index),
    )
    const lates: Promise<void>[] = []
    const writers = this.#clients.map(async (client, index) => {
      for (const [place, one] of (byWriter[index] ?? []).entries()) {
        const isLast = place === (byWriter[index]?.length ?? 0) - 1
        await client.query('BEGIN')
        const first = this.#next
        this.#next += one.rows
        await this.#table.insert(first, one.rows, client)
        if (one.isLate && isLast) {
          lates.push(early.promise.then(async () => void (await client.query(one.end))))
          return
        }
        await client.query(one.end)
      }
    })
    await Promise.all(writers)
    early.resolve()
    await Promise.all(lates)
  }
}

describe.skipIf(isPostgresMissing)('a follower of the log', () => {
  test('keeps each committed row once, in the order of commits, wherever it is killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(written, { minLength: 1, maxLength: 5 }), death), {
          minLength: 1,
          maxLength: 3,
        }),
        async (lives) => {
          await using table = await FollowedTable.create(server)
          await using proxy = await TcpProxy.start(server.port)
          await using follower = table.follower(proxy.port)
          const clients = await Promise.all([1, 2, 3].map(() => server.client(table.database)))
          const writers = new Writers(table, clients)
          follower.start()
          await reached(follower)
          await table.takeNotes()
          for (const [transactions, { after, failures, isWritten, isCut }] of lives) {
            follower.journal.failuresLeft = failures
            const dying = follower.journal.crashIn({ after: after + failures, isWritten })
            if (!follower.runner.isRunning) follower.start()
            const writing = writers.write(transactions)
            if (isCut) proxy.reset()
            await Promise.race([dying, writing.then(() => caughtUp(follower, table))])
            await follower.kill()
            await writing
          }
          // The last crash may not have come.
          void follower.journal.crashIn({ after: Number.POSITIVE_INFINITY, isWritten: false })
          follower.start()
          await kept(follower, await table.notes())
          await Promise.all(clients.map((client) => client.end()))
        },
      ),
      { numRuns: 15 },
    )
  })
})
