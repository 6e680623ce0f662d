import type { Static } from 'typebox'
import { ledgers } from '../../core/ledger.ts'
import * as s from '../../requests/http/schema.ts'
import { sandbox } from '../intents/chosen-network.ts'
import { type LedgerLook, unitOf } from './ledger-look.ts'

const ledgerSchema = s.component(
  'LedgerInUse',
  s.record({
    ledger: s.choice(ledgers),
    network: {
      ...s.text,
      description: 'Where what live keys make is anchored: `sandbox` where no other is set.',
      examples: ['eip155:1'],
    },
    finality: {
      ...s.eitherOf(s.choice(['finalized', 'safe']), s.integer(1, 99_999)),
      description: 'From when on a block counts: as the network says, or under so many others.',
    },
    fee: {
      ...s.nullable(s.text),
      description: 'Of an anchor now, in `unit`: null where it costs nothing, or nobody answers.',
    },
    unit: s.nullable(s.choice(['drops', 'wei'])),
    answers: { ...s.boolean, description: 'Whether the network answers.' },
    problem: {
      ...s.nullable(s.text),
      description: 'Why nothing can be anchored there now; null while it can.',
    },
  }),
)

export const ledgersSchema = s.listOf(ledgerSchema)

type LedgerBody = Static<typeof ledgerSchema>

export function ledgerBody(look: LedgerLook): LedgerBody {
  const { settings, answers, problem, figures } = look
  const { ledger, network, finality } = settings
  return {
    ledger,
    network,
    finality,
    fee: figures === undefined ? null : String(figures.feeOfAnchor),
    unit: unitOf(settings),
    answers,
    problem: problem ?? null,
  }
}

/** @param problem of the ledger of our own, if it has one */
export function sandboxBody(ledger: LedgerBody['ledger'], problem: string | undefined): LedgerBody {
  return {
    ledger,
    network: sandbox,
    finality: 'finalized',
    fee: null,
    unit: null,
    answers: problem === undefined,
    problem: problem ?? null,
  }
}
