import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compareText } from '../../src/core/canonical-json.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import { batchText, sealText } from '../../src/ledgers/seals/seal-text.ts'
import { textsIn } from './anchor-facts.ts'
import type { ApiClient } from './api-client.ts'

interface SealRow {
  readonly stream_id: string
  readonly start_us: number
  readonly width_us: number
  readonly revision: number
  readonly count: number
  readonly root: string
  readonly previous: string | null
  readonly batch_id: string | null
  readonly batch_index: number | null
}

interface Batch {
  readonly id: string
  readonly text: string
  readonly anchors: number
}

/** What waits to be sealed, to get into a batch, or to get onto a ledger. */
export function unsealedIn(dataDir: string): readonly string[] {
  return [
    ...textsIn(dataDir, "'mark of ' || start_us AS text FROM seal_marks"),
    ...textsIn(dataDir, "'seal ' || number AS text FROM seals WHERE batch_id IS NULL"),
    ...textsIn(dataDir, "'anchor ' || id AS text FROM anchors WHERE state <> 'completed'"),
  ]
}

/**
 * What is wrong with the seals of a service at rest: the revisions of a stretch follow each other without a gap, none says
 * what the one before it says, each is in one batch, and each batch is the tree over its seals and is anchored once.
 */
export function wrongSeals(dataDir: string): readonly string[] {
  using state = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true, timeout: 5_000 })
  const seals = state
    .prepare('SELECT * FROM seals ORDER BY stream_id, start_us, width_us, revision')
    .all() as unknown as readonly SealRow[]
  const batches = state
    .prepare(
      `SELECT id, text, (SELECT count(*) FROM anchors
        WHERE resource_type = 'seals' AND resource_id = b.id) AS anchors FROM seal_batches b`,
    )
    .all() as unknown as readonly Batch[]
  return [
    ...seals.flatMap((seal, at) => wrongSteps(seal, seals[at - 1])),
    ...seals.filter(({ batch_id: id }) => !batches.some((one) => one.id === id)).map(nameOf),
    ...batches.flatMap((batch) => wrongBatch(batch, seals)),
  ]
}

function nameOf({ stream_id: stream, start_us: start, width_us: width, revision }: SealRow) {
  return `${stream} ${start} ${width} ${revision}`
}

function wrongSteps(seal: SealRow, before: SealRow | undefined): readonly string[] {
  const isNext =
    before?.stream_id === seal.stream_id &&
    before.start_us === seal.start_us &&
    before.width_us === seal.width_us
  const last = isNext ? before : undefined
  return [
    ...(seal.revision === (last?.revision ?? 0) + 1 ? [] : [`revisions before ${nameOf(seal)}`]),
    ...(seal.previous === (last?.root ?? null) ? [] : [`the root before ${nameOf(seal)}`]),
    ...(seal.root === last?.root ? [`${nameOf(seal)} is the same again`] : []),
    ...(seal.count > 0 ? [] : [`${nameOf(seal)} is of nothing`]),
  ]
}

function wrongBatch({ id, text, anchors }: Batch, seals: readonly SealRow[]): readonly string[] {
  const within = seals
    .filter((seal) => seal.batch_id === id)
    .toSorted((one, other) => Number(one.batch_index) - Number(other.batch_index))
  const isInOrder = within.every((seal, index) => seal.batch_index === index)
  const { root } = MerkleTree.over(within.map(textOf))
  return [
    ...(isInOrder ? [] : [`the order of batch ${id}`]),
    ...(batchText({ count: within.length, root }) === text ? [] : [`the root of batch ${id}`]),
    ...(anchors === 1 ? [] : [`${anchors} anchors of batch ${id}`]),
  ]
}

function textOf(row: SealRow): string {
  const { stream_id: stream, start_us: startUs, revision, count, root, previous } = row
  const endUs = startUs + row.width_us
  return sealText({ stream, startUs, endUs, revision, count, root, previous })
}

/** Where the newest seals of a stream are not the roots over what is stored, for stretches that are so long. */
export async function wrongRoots(
  dataDir: string,
  { api, streamId, widthUs }: { api: ApiClient; streamId: string; widthUs: number },
): Promise<readonly string[]> {
  const sealed = textsIn(
    dataDir,
    `start_us || ' ' || count || ' ' || root AS text FROM seals s
      WHERE stream_id = '${streamId}' AND width_us = ${widthUs} AND revision =
        (SELECT max(revision) FROM seals WHERE stream_id = s.stream_id
          AND start_us = s.start_us AND width_us = s.width_us)`,
  )
  const stored = await storedRoots(api, streamId, widthUs)
  return [
    ...stored.filter((one) => !sealed.includes(one)).map((one) => `not sealed: ${one}`),
    ...sealed.filter((one) => !stored.includes(one)).map((one) => `not stored: ${one}`),
  ]
}

async function storedRoots(
  api: ApiClient,
  streamId: string,
  widthUs: number,
): Promise<readonly string[]> {
  const texts = new Map<number, string[]>()
  for (const { timestamp, ...values } of await api.readAll(streamId)) {
    const timestampUs = Number(parseRfc3339(String(timestamp)))
    const startUs = Math.floor(timestampUs / widthUs) * widthUs
    const text = readingText(streamId, { timestampUs, values })
    texts.set(startUs, [...(texts.get(startUs) ?? []), text])
  }
  // The text of a reading begins with its time after the id, and so the order of texts is that of leaves.
  return [...texts].map(([startUs, leaves]) => {
    const { root } = MerkleTree.over(leaves.toSorted(compareText))
    return `${startUs} ${leaves.length} ${root}`
  })
}
