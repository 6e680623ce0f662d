import type { Static } from 'typebox'
import { ledgers } from '../../core/ledger.ts'
import { keyRoles } from '../../ledgers/keys/ledger-key.ts'
import * as s from '../../requests/http/schema.ts'
import { sandbox } from '../intents/chosen-network.ts'
import { accountsOf, type LedgerLook, unitOf } from './ledger-look.ts'

const accountSchema = s.component(
  'LedgerAccount',
  s.record({
    role: {
      ...s.choice(keyRoles),
      description:
        '`issuer` signs what is anchored, and `distributor` is where assets are paid to.',
    },
    account: { ...s.text, description: 'Its address.' },
    anchors_left: {
      ...s.nullable(s.count),
      description:
        'How many more it can pay for, for a `distributor` with the reserve that each asset takes: null where that is not known.',
    },
  }),
)

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
      description: 'Of an anchor now, in `unit`: null where it costs nothing, or no node answers.',
    },
    unit: s.nullable(s.choice(['drops', 'wei'])),
    accounts: s.listOf(accountSchema, { description: 'Ours, which sign: the issuer first.' }),
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
    accounts: accountsOf(look).map(({ role, account, anchorsLeft }) => ({
      role,
      account,
      anchors_left: anchorsLeft ?? null,
    })),
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
    accounts: [],
    answers: problem === undefined,
    problem: problem ?? null,
  }
}
