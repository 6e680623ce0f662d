import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnchorStatus } from '../../src/anchors/intents/anchor.ts'
import type { ResourceMove } from '../../src/anchors/intents/anchored-kind.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import { movedRow } from '../../src/twins/anchored/moved-row.ts'
import { startedProgress, statusesIn } from '../../src/twins/progress/progress.ts'
import { Twins } from '../support/twins.ts'

const facts = {
  txHash: 'ab'.repeat(32),
  account: 'rAccount',
  distributionWallet: 'rWallet',
  mapping: 'GOLD',
  tokenId: 'token 7',
}

function move(resourceId: string, ...statuses: readonly AnchorStatus[]): ResourceMove {
  const base = { resourceId, operation: 'creation', atUs: 5, facts, isQuiet: false }
  const isFailure = statuses.some((status) => status === 'FAILED' || status === 'ERROR')
  const failure = isFailure ? { error: 'refused', message: 'the ledger said no' } : undefined
  return { ...base, statuses, failure }
}

async function moveAll(twins: Twins, type: string, ...moves: readonly ResourceMove[]) {
  const kind = anchoredKinds({ ...twins.needs, lifecycle: twins.lifecycle }).find(
    (one) => one.type === type,
  )
  await twins.tests.state
    .transaction()
    .execute(async (transaction) => await kind?.move(transaction, moves))
}

const tables = [
  ['vault', 'vaults', 'vault'],
  ['asset_stream', 'asset_streams', 'stream'],
  ['attachment', 'attachments', 'data_attachment'],
  ['signature', 'signatures', 'signature'],
  ['asset', 'assets', 'asset'],
] as const

/** What an end is called where the catalogue has another word for it. */
const otherWords: Readonly<Record<string, string>> = {
  'data_attachment.error': 'data_attachment.failed',
  'asset.completed': 'asset.deployed',
  'asset.failed': 'asset.error',
}

function eventOf(subject: string, word: string): string {
  const name = `${subject}.${word}`
  return otherWords[name] ?? name
}

/** One resource of each type. */
async function made(twins: Twins, type: (typeof tables)[number][0]): Promise<string> {
  const streamId = await twins.newStream('GOLD')
  if (type === 'asset_stream') return streamId
  if (type === 'vault') return await twins.newVault(['GOLD'])
  if (type === 'asset') return await twins.newAsset('GOLD')
  const attachment = await twins.newAttachment('GOLD')
  return type === 'signature' ? await twins.newSignature(attachment) : attachment
}

async function rowOf(twins: Twins, table: (typeof tables)[number][1], id: string) {
  return await twins.tests.state
    .selectFrom(table)
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

describe.each(tables)('a move of a resource of the type %s', (type, table, subject) => {
  test('brings it to COMPLETED, entered once each and told of once', async () => {
    await using twins = await Twins.open()
    const id = await made(twins, type)

    await moveAll(twins, type, move(id, 'LEDGER_SUBMITTED'))
    await moveAll(twins, type, move(id, 'LEDGER_SUBMITTED', 'COMPLETED'))
    await moveAll(twins, type, move(id, 'LEDGER_SUBMITTED', 'COMPLETED'))

    const row = await rowOf(twins, table, id)
    expect(row).toMatchObject({ status: 'COMPLETED', tx_hash: facts.txHash, failure: null })
    expect(statusesIn(row.progress).slice(-3)).toEqual([
      'METADATA_STORED',
      'LEDGER_SUBMITTED',
      'COMPLETED',
    ])
    const told = (await twins.eventsOf(id)).map((event) => event.type)
    expect(told).toEqual([eventOf(subject, 'completed')])
  })

  test.each([
    ['FAILED', 'failed'],
    ['ERROR', 'error'],
  ] as const)('that ends in %s says why, and tells that', async (status, word) => {
    await using twins = await Twins.open()
    const id = await made(twins, type)

    await moveAll(twins, type, move(id, status))

    const [event] = await twins.eventsOf(id)
    expect(event?.type).toBe(eventOf(subject, word))
    expect(JSON.parse(event?.data ?? '{}')).toMatchObject({
      status,
      tx_hash: '',
      failure: { error: 'refused', message: 'the ledger said no' },
    })
  })

  test('that comes to pass after an error clears it, and says by which transaction', async () => {
    await using twins = await Twins.open()
    const id = await made(twins, type)

    const done = move(id, 'LEDGER_SUBMITTED', 'COMPLETED')
    await moveAll(twins, type, move(id, 'ERROR'), done)

    const row = await rowOf(twins, table, id)
    expect(row).toMatchObject({ status: 'COMPLETED', tx_hash: facts.txHash, failure: null })
    expect(statusesIn(row.progress).slice(-3)).toEqual(['ERROR', 'LEDGER_SUBMITTED', 'COMPLETED'])
    expect(await twins.eventsOf(id)).toHaveLength(2)
  })

  test('that is quiet is told of quietly', async () => {
    await using twins = await Twins.open()
    const id = await made(twins, type)

    await moveAll(twins, type, { ...move(id, 'LEDGER_SUBMITTED', 'COMPLETED'), isQuiet: true })

    expect(await twins.eventsOf(id)).toMatchObject([{ quiet: 1 }])
  })

  test('changes nothing that is gone, and nothing for what is not seen of it', async () => {
    await using twins = await Twins.open()
    const id = await made(twins, type)
    const before = await rowOf(twins, table, id)

    await moveAll(twins, type, { ...move(id, 'COMPLETED'), operation: 'image:1' })
    expect(await rowOf(twins, table, id)).toEqual(before)
    await twins.tests.state.deleteFrom('vault_streams').execute()
    await twins.tests.state.deleteFrom(table).where('id', '=', id).execute()
    await moveAll(twins, type, move(id, 'COMPLETED'))
    expect(await twins.eventsOf(id)).toEqual([])
  })
})

test('what the ledger has made of each is in its row', async () => {
  await using twins = await Twins.open()
  const stream = await twins.newStream('GOLD')
  const vault = await twins.newVault(['GOLD'])
  await moveAll(twins, 'asset_stream', move(stream, 'LEDGER_SUBMITTED', 'COMPLETED'))
  await moveAll(twins, 'vault', move(vault, 'LEDGER_SUBMITTED', 'COMPLETED'))

  expect(await rowOf(twins, 'asset_streams', stream)).toMatchObject({
    issuer: 'rAccount',
    distribution_wallet: 'rWallet',
    mapping: 'GOLD',
  })
  expect(await rowOf(twins, 'vaults', vault)).toMatchObject({
    nft_network_issuer: 'rAccount',
    nft_network_owner: 'rAccount',
    nft_network_id: 'token 7',
  })
})

const statuses = fc.subarray<AnchorStatus>(
  ['METADATA_STORED', 'LEDGER_SUBMITTED', 'COMPLETED', 'FAILED', 'ERROR'],
  { minLength: 0, maxLength: 3 },
)

test('in whatever order moves come, progress is appended to only, and nothing leaves its end', () => {
  fc.assert(
    fc.property(fc.array(statuses, { maxLength: 8 }), (all) => {
      let row = {
        status: 'METADATA_STORED',
        tx_hash: '',
        progress: startedProgress(1, 'SERVICE_RECEIVED', 'METADATA_STORED'),
        failure: null as string | null,
      }
      const told: string[] = []
      for (const some of all) {
        const moved = movedRow(row, move('it', ...some))
        const before = statusesIn(row.progress)
        if (row.status === 'COMPLETED' || row.status === 'FAILED') expect(moved).toBeUndefined()
        if (!moved) continue
        const after = statusesIn(moved.row.progress)
        expect(after.slice(0, before.length)).toEqual(before)
        expect(new Set(after).size).toBe(after.length)
        expect(after).toContain(moved.row.status)
        if (moved.told) told.push(moved.told)
        row = moved.row
      }
      expect(new Set(told).size).toBe(told.length)
      expect(row.failure === null).toBe(row.status !== 'FAILED' && row.status !== 'ERROR')
    }),
  )
})
