import { streamvault } from './command-line.ts'

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly advice: string
}

export interface Examination {
  readonly code: number | null
  readonly checks: readonly Check[]
  /** The check of that name. */
  readonly check: (name: string) => Check | undefined
}

type Environment = Readonly<Record<string, string>>

export const anyPorts = { STREAMVAULT_HTTP_PORT: '0', STREAMVAULT_MQTT_PORT: '0' }

/** What `streamvault doctor` finds. */
export async function examine(
  dataDir: string,
  environment: Environment = {},
): Promise<Examination> {
  const { code, stdout } = await streamvault(['doctor', '--json'], {
    ...anyPorts,
    STREAMVAULT_DATA_DIR: dataDir,
    ...environment,
  })
  const { checks } = JSON.parse(stdout) as { checks: Check[] }
  return { code, checks, check: (name) => checks.find((one) => one.name === name) }
}
