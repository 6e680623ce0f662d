import { formatUs } from '../../src/core/time.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import { type SealProof, sealProofFormat } from '../../src/ledgers/seals/seal-proof.ts'
import { batchText, type SealContent, sealText } from '../../src/ledgers/seals/seal-text.ts'
import { sandboxProof } from './sandbox-proof.ts'

/** A reading as it is stored. */
export interface SealedReading {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
}

export interface MadeReceipt {
  readonly receipt: ReturnType<typeof receiptOf>
  readonly sealProof: SealProof
  /** Id of the key that blocks are signed with. */
  readonly keyId: string
}

const streamId = '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'
const quarterUs = 900_000_000

/** 2026-03-01T12:00:00Z, where a quarter of an hour begins. */
export const startUs = 1_772_366_400_000_000

/** Seals readings of a quarter of an hour on the sandbox of a folder, among other seals; the receipt is of a time. */
export async function sealedReceipt(
  folder: string,
  readings: readonly SealedReading[],
  { timestampUs, revision = 2 }: { readonly timestampUs: number; readonly revision?: number },
): Promise<MadeReceipt> {
  const texts = readings.map((reading) => readingText(streamId, reading))
  const tree = MerkleTree.over(texts)
  const seal: SealContent = {
    stream: streamId,
    startUs,
    endUs: startUs + quarterUs,
    revision,
    count: readings.length,
    root: tree.root,
    previous: revision === 1 ? null : MerkleTree.over(texts.slice(1)).root,
  }
  const others = [1, 2, 3].map((at) => {
    const stretch = { startUs: startUs - at * quarterUs, endUs: startUs - (at - 1) * quarterUs }
    return sealText({ ...seal, ...stretch, revision: 1, previous: null })
  })
  const seals = MerkleTree.over([...others, sealText(seal)])
  const batch = batchText({ count: others.length + 1, root: seals.root })
  const file = { name: '', bytes: Buffer.from(batch) }
  const { proof, keyId } = await sandboxProof(folder, [file], { others: 2, beside: 1 })
  const sealProof: SealProof = {
    format: sealProofFormat,
    text: sealText(seal),
    batch: { text: batch, path: seals.path(others.length) },
    proof,
  }
  const answers = readings.flatMap((reading, at) => {
    return reading.timestampUs === timestampUs
      ? [storedOf({ reading, seal, sealProof }, tree.path(at))]
      : []
  })
  return { receipt: receiptOf(timestampUs, answers), sealProof, keyId }
}

interface Sealed {
  readonly reading: SealedReading
  readonly seal: SealContent
  readonly sealProof: SealProof
}

/** What a receipt says of a stored reading that has raised an alert, whose delivery has failed once. */
function storedOf({ reading, seal, sealProof }: Sealed, path: object) {
  const { timestampUs, values } = reading
  return {
    ...readingOf('stored', { timestamp: formatUs(timestampUs), ...values }),
    text: readingText(streamId, reading),
    digest: '0123456789abcdef',
    seal: {
      start: formatUs(seal.startUs),
      end: formatUs(seal.endUs),
      revision: seal.revision,
      count: seal.count,
      root: seal.root,
      previous: seal.previous,
      sealedAt: '2026-03-01T12:20:01.000000Z',
      status: 'COMPLETED',
      tx_hash: sealProof.proof.tx_hash,
      path,
      problem: null,
      proof: sealProof,
    },
  }
}

/** A reading of a receipt that no seal has. */
export function readingOf(outcome: string, reading: object | null) {
  const [at, hourUs] = ['2026-03-01T12:00:01.000000Z', 3_600_000_000]
  const [start, end] = [formatUs(startUs), formatUs(startUs + hourUs)]
  const attempt = { attemptedAt: at, statusCode: 500, durationMs: 3, message: null }
  return {
    outcome,
    reading,
    text: null as string | null,
    digest: null as string | null,
    arrival: { receivedAt: at, how: { type: 'iot_sensor', protocol: 'mqtt' }, kind: 'received' },
    journal: { offset: 12, problem: null },
    definition: { version: 1 },
    verdict: { accepted: true, reason: null, message: null, details: [] },
    windows: [{ start, end, revision: 1, count: 3 }],
    alerts: [{ alertId: 'alert 1', ruleId: 'rule 1', step: 'raised', eventId: 'event 1' }],
    events: [
      {
        eventId: 'event 1',
        type: 'alert.raised',
        at,
        deliveries: [
          {
            deliveryId: 'delivery 1',
            channel: 'webhook',
            state: 'delivered',
            attempts: [
              { ...attempt, attempt: 1, delivered: false },
              { ...attempt, attempt: 2, delivered: true },
            ],
          },
        ],
        inbox: [],
      },
    ],
    missing: [] as { readonly what: string }[],
    seal: null as object | null,
  }
}

export function receiptOf(timestampUs: number, readings: readonly ReturnType<typeof readingOf>[]) {
  return {
    format: 'streamvault-receipt-1',
    streamId,
    timestamp: formatUs(timestampUs),
    answeredAt: '2026-03-02T08:00:00.000000Z',
    readings,
    hasMore: false,
  }
}
