import {
  type Ledger,
  LedgerUnreachable,
  type Preparation,
  type Terms,
} from '../../ledgers/ledger.ts'
import type { PlannedDeed } from './deeds.ts'
import type { MovedAnchors } from './desk.ts'
import { noFacts } from './sequences.ts'

/** A deed that the ledger takes now. */
export interface PreparedDeed extends PlannedDeed {
  readonly terms: Terms
}

export interface PreparedDeeds {
  readonly prepared: readonly PreparedDeed[]
  /** Anchors that it would never take: they have failed. */
  readonly refused: readonly MovedAnchors[]
  /** Why the others have to wait. */
  readonly problem: string | undefined
}

/** Asks a ledger about deeds, all at once, before any sequence is used for them. */
export async function preparedDeeds(
  ledger: Ledger,
  deeds: readonly PlannedDeed[],
): Promise<PreparedDeeds> {
  const answers = await Promise.all(deeds.map(({ deed }) => preparation(ledger, deed)))
  const prepared: PreparedDeed[] = []
  const refused: MovedAnchors[] = []
  let problem: string | undefined
  for (const [at, answer] of answers.entries()) {
    const planned = deeds[at] as PlannedDeed
    if (answer instanceof LedgerUnreachable) problem ??= answer.message
    else if ('refused' in answer) refused.push(refusedAnchors(planned, answer.refused))
    else prepared.push({ ...planned, terms: answer.terms })
  }
  return { prepared, refused, problem }
}

async function preparation(
  ledger: Ledger,
  deed: PlannedDeed['deed'],
): Promise<Preparation | LedgerUnreachable> {
  try {
    return await ledger.prepare(deed)
  } catch (error) {
    if (error instanceof LedgerUnreachable) return error
    throw error
  }
}

function refusedAnchors({ anchors }: PlannedDeed, reason: string): MovedAnchors {
  return {
    of: { anchorIds: anchors.map(({ id }) => id) },
    from: ['waiting'],
    to: 'failed',
    statuses: ['FAILED'],
    facts: noFacts,
    failure: { error: 'ledger_refused', message: reason },
  }
}
