import { type Ledger, ledgers } from '../core/ledger.ts'
import type { Config } from './config.ts'
import { nameOf } from './ledgers.ts'

interface Need {
  readonly what: string
  readonly isThere: (config: Config) => boolean
}

/** What a setting needs beside it to have any effect. */
const needs: Readonly<Record<string, Need>> = {
  ...Object.fromEntries(ledgers.flatMap(ofLedger)),
  STREAMVAULT_MAIL_FROM: {
    what: 'STREAMVAULT_SMTP_URL',
    isThere: ({ smtp }) => smtp !== undefined,
  },
  STREAMVAULT_MQTTS_PORT: {
    what: 'STREAMVAULT_TLS_CERT and STREAMVAULT_TLS_KEY',
    isThere: ({ tls }) => tls !== undefined,
  },
  STREAMVAULT_QUESTDB_HELD_MAX: {
    what: 'a STREAMVAULT_TIMESERIES_URL of QuestDB',
    isThere: ({ timeSeries }) => timeSeries.kind === 'questdb',
  },
}

/** Settings that are given and do nothing, as sentences. */
export function idleSettings(
  environment: Readonly<Record<string, string | undefined>>,
  config: Config,
): readonly string[] {
  return Object.entries(needs)
    .filter(([name, { isThere }]) => environment[name] && !isThere(config))
    .map(([name, { what }]) => `${name} has no effect without ${what}`)
}

/** The network has an effect on keys also where nobody is asked. */
function ofLedger(ledger: Ledger): [string, Need][] {
  const what = nameOf(ledger)
  const isThere = (config: Config) => config.ledgers.some((one) => one.ledger === ledger)
  return ['_CONTRACT', '_FINALITY', '_FEE_MAX'].map((end) => [what + end, { what, isThere }])
}
