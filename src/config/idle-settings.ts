import type { Config } from './config.ts'

/** What a setting needs beside it to have any effect. */
const needs: Readonly<
  Record<string, { readonly what: string; readonly isThere: (config: Config) => boolean }>
> = {
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
