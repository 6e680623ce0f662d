import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A copy that is being made. */
export interface FileCopy {
  /** Rejects when it fails or is stopped. */
  readonly done: Promise<void>
  stop(): void
}

/**
 * Copies a file that DuckDB has open, by a process of its own. DuckDB keeps others away with a lock of the kind
 * that a process loses with the first of its descriptors of the file that is closed (fcntl(2), "Record locks"): read
 * by this process, the file could be opened and written by another one.
 */
export function copyFile(from: string, to: string): FileCopy {
  const module = new URL(
    `./copy-process${extname(new URL(import.meta.url).pathname)}`,
    import.meta.url,
  )
  const child = spawn(process.execPath, [fileURLToPath(module), from, to], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return { done: ended(child), stop: () => void child.kill('SIGKILL') }
}

async function ended(child: ChildProcess): Promise<void> {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, 2_000)))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return
  const reason = /Error: (.*)/.exec(said)?.[1] ?? (code === null ? 'it was stopped' : said)
  throw new Error(`the time series could not be copied: ${reason}`)
}
