import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { adminKey, adminSecret } from './service-process.ts'

type Environment = Readonly<Record<string, string>>

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Settings with which a command reaches the service of a data folder, with the bootstrap key. */
export function settingsOf(dataDir: string): Record<string, string> {
  return {
    STREAMVAULT_DATA_DIR: dataDir,
    STREAMVAULT_ADMIN_KEY: adminKey,
    STREAMVAULT_ADMIN_SECRET: adminSecret,
  }
}

/** Runs `streamvault` as a user would, with no settings but the given ones. */
export async function streamvault(
  words: readonly string[],
  environment: Environment = {},
): Promise<CommandResult> {
  return await resultOf(startStreamvault(words, environment))
}

/** What it prints with `--json`, once it has ended well. */
export async function streamvaultJson<Result>(
  words: readonly string[],
  environment: Environment = {},
): Promise<Result> {
  const { code, stdout, stderr } = await streamvault([...words, '--json'], environment)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as Result
}

export function startStreamvault(
  words: readonly string[],
  environment: Environment = {},
  input: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STREAMVAULT_'))
  return spawn(process.execPath, ['bin/streamvault.js', ...words], {
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: [input, 'pipe', 'pipe'],
  })
}

/** The first thing that it prints. @throws Error when it ends without a word */
export async function firstOutput(child: ChildProcess): Promise<string> {
  const said = new Promise<string>((resolve) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()))
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended with ${String(code)} and has printed nothing`)
  })
  return await Promise.race([said, ended])
}

export async function resultOf(child: ChildProcess): Promise<CommandResult> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
