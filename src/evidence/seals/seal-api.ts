import type { Static } from 'typebox'
import { merklePath, proofSchema } from '../../anchors/proofs/proof-api.ts'
import { formatUs } from '../../core/time.ts'
import type { SealProof } from '../../ledgers/seals/seal-proof.ts'
import { askedTime } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'
import type { Seal, SealProgress, WaitingStretch } from './seal-store.ts'

/** Seals of an answer: each has a proof. */
const sealsMax = 100
export const sealsDefault = 20

export const sealsQuery = s.query({
  start: askedTime('Stretches that end after it.'),
  end: askedTime('Stretches that begin before it.'),
  limit: s.integer(1, sealsMax, { default: sealsDefault }),
  cursor: s.cursorQuery.cursor,
})

const hash = { ...s.text, examples: ['9f86d081884c7d659a2feaa0c55ad015'.repeat(2)] }

/** A proof of a seal as it goes over HTTP, and as it is saved in a file. */
const sealProofSchema = s.component(
  'SealProof',
  s.record({
    format: s.typed<SealProof['format']>({ const: 'streamvault-seal-proof-1' }),
    text: { ...s.text, description: 'The seal: JSON, byte for byte a leaf of the batch.' },
    batch: s.record({
      text: {
        ...s.text,
        description: 'The batch: JSON, byte for byte what the CID of the proof is of.',
      },
      path: merklePath,
    }),
    proof: proofSchema,
  }),
)

const stretch = { start: s.dateTime, end: s.dateTime }

/** What answers show of a seal. */
export const sealFields = {
  ...stretch,
  revision: { ...s.count, description: 'From 1. A late reading leads to the next revision.' },
  count: { ...s.count, description: 'How many readings were stored in the stretch.' },
  root: { ...hash, description: 'Of the tree over the texts of these readings: hexadecimal.' },
  previous: { ...s.nullable(s.text), description: 'The root of the revision before.' },
  sealedAt: s.dateTime,
  status: {
    ...s.choice([
      'SERVICE_RECEIVED',
      'METADATA_STORED',
      'LEDGER_SUBMITTED',
      'COMPLETED',
      'FAILED',
      'ERROR',
    ]),
    description: '`SERVICE_RECEIVED` until the seal is in a batch.',
  },
  tx_hash: s.nullable(s.text),
  proof: s.typed<SealProof | null>({
    anyOf: [sealProofSchema, s.nothing],
    description: 'Null until the seal is in a batch.',
  }),
} as const

export const sealSchema = s.component('Seal', s.record(sealFields))

const waiting = s.record({
  ...stretch,
  dueAt: { ...s.dateTime, description: 'When it is sealed at the earliest.' },
  problem: {
    ...s.nullable(s.record({ error: s.text, message: s.text })),
    description: 'Why it could not be sealed when that was tried last: it is tried again.',
  },
})

export const sealsSchema = s.record({
  streamId: s.uuid,
  seals: s.listOf(sealSchema),
  waiting: s.listOf(waiting, {
    description:
      'Stretches that are still to be sealed, or sealed again: the first hundred, on the first page only.',
  }),
  nextCursor: s.nullable(s.text),
})

export function sealBody(seal: Seal, progress: SealProgress): Static<typeof sealSchema> {
  const { startUs, endUs, revision, count, root, previous, sealedAtUs } = seal
  const { status, txHash, proof } = progress
  return {
    start: formatUs(startUs),
    end: formatUs(endUs),
    revision,
    count,
    root,
    previous,
    sealedAt: formatUs(sealedAtUs),
    status,
    tx_hash: txHash,
    proof,
  }
}

export function waitingBody(
  { startUs, endUs, dueAtUs, problem }: WaitingStretch,
  graceUs: number,
): Static<typeof waiting> {
  return {
    start: formatUs(startUs),
    end: formatUs(endUs),
    dueAt: formatUs(dueAtUs + graceUs),
    problem,
  }
}
