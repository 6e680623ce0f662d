import type { ShownVault } from '../shown-vault.ts'

/** A step on the way onto the ledger. */
export interface AnchorStep {
  readonly status: string
  readonly says: string
  /** When it was done; undefined while it is not. */
  readonly doneAt: string | undefined
  readonly is: 'done' | 'next' | 'to-come' | 'failed'
}

const way: readonly (readonly [status: string, says: string])[] = [
  ['SERVICE_RECEIVED', 'Received'],
  ['METADATA_STORED', 'What is anchored is fixed'],
  ['LEDGER_SUBMITTED', 'The ledger has it'],
  ['COMPLETED', 'Final on the ledger'],
]

const endings: Readonly<Record<string, string>> = {
  FAILED: 'Refused',
  ERROR: 'Not taken in time',
}

/** The way of a vault onto the ledger: what is done of it, and what is to come. */
export function anchorSteps({
  status,
  progress,
}: Pick<ShownVault, 'status' | 'progress'>): readonly AnchorStep[] {
  const doneAt = new Map(progress.map((entry) => [entry.status, entry.completed_at]))
  const ending = endings[status]
  const done = way.filter(([name]) => doneAt.has(name))
  const open = way.filter(([name]) => !doneAt.has(name))
  return [
    ...done.map(([name, says]) => step(name, says, doneAt.get(name))),
    ...(ending === undefined
      ? []
      : [{ status, says: ending, doneAt: doneAt.get(status), is: 'failed' as const }]),
    ...open.map(([name, says], at) => ({
      ...step(name, says, undefined),
      is: at === 0 && ending === undefined ? ('next' as const) : ('to-come' as const),
    })),
  ]
}

function step(status: string, says: string, doneAt: string | undefined): AnchorStep {
  return { status, says, doneAt, is: 'done' }
}
