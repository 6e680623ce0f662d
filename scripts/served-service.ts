import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const program = join(import.meta.dirname, '..', 'bin', 'streamvault.js')

/**
 * Asks the service as it is here, which is started for it and ended again.
 *
 * @param settings in place of the defaults
 */
export async function askService<Answer>(
  ask: (http: string) => Promise<Answer>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-docs-'))
  const child = spawn(process.execPath, [program, 'serve'], {
    env: {
      ...process.env,
      STREAMVAULT_DATA_DIR: folder,
      STREAMVAULT_HOST: '127.0.0.1',
      STREAMVAULT_HTTP_PORT: '0',
      STREAMVAULT_MQTT_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, http } = JSON.parse(line) as { readonly msg?: string; readonly http: string }
      if (msg === 'listening') return await ask(http)
    }
    throw new Error('the service ended before it listened')
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true })
  }
}
