import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder } from '../core/make-folder.ts'
import { CommandError } from './command.ts'
import type { JobProgress } from './progress-bar.ts'
import type { Session } from './session.ts'

/** How often it is asked how far the service is. */
const askMs = 300

/** The name of the note in the folder, which is there until everything else is. */
const noteName = '.export.json'

/** The ending of the name of a file until all of it is there. */
const partEnding = '.part'

interface ExportedFile {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

interface Job {
  readonly exportId: string
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: number
  readonly rows: number
  readonly bytes: number
  readonly failure: { readonly message: string } | null
  readonly files: readonly ExportedFile[]
}

interface Note {
  readonly exportId: string
  readonly request: object
}

export interface ExportJobNeeds {
  readonly session: Session
  readonly folder: string
  readonly request: object
  readonly onProgress: (progress: JobProgress) => void
}

/**
 * An export of the service whose files are brought into a folder, each once it is finished. What was
 * interrupted goes on when the same is asked for again.
 */
export class ExportJob {
  readonly #needs: ExportJobNeeds

  constructor(needs: ExportJobNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves when all files are in the folder.
   *
   * @throws CommandError `export_failed`; `interrupted` once the signal has ended it: the job of the
   *   service is cancelled then, and what it has written stays there
   */
  async run(signal: AbortSignal): Promise<Pick<Job, 'rows' | 'files'>> {
    const { folder, onProgress } = this.#needs
    makeFolder(folder)
    const id = await this.#begin()
    for (;;) {
      const job = await this.#find(id)
      onProgress(job)
      for (const file of job.files) {
        if (!signal.aborted) await this.#fetch(id, file, signal)
      }
      if (signal.aborted) throw await this.#cancelled(id, job)
      if (job.state === 'completed') return await this.#end(id, job)
      if (job.state === 'failed' || job.state === 'cancelled') {
        const why = job.failure?.message ?? 'it was cancelled'
        throw new CommandError('export_failed', `${why}; the same command goes on where it was`)
      }
      await sleep(askMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Makes a job, or goes on with the one that the folder knows of. */
  async #begin(): Promise<string> {
    const { session, folder, request } = this.#needs
    const note = this.#note()
    if (note !== undefined) {
      const path = `/exports/${note.exportId}/resume`
      try {
        await session.call({ method: 'POST', path })
        return note.exportId
      } catch (error) {
        // It was removed since: a new one has its files in the same order.
        if (!(error instanceof CommandError) || error.code !== 'not_found') throw error
      }
    }
    const asked = { method: 'POST', path: '/exports', body: request } as const
    const { exportId } = await session.call<Job>(asked)
    const text = JSON.stringify({ exportId, request } satisfies Note)
    writeFileSync(join(folder, noteName), text)
    return exportId
  }

  /** @throws CommandError `folder_in_use` where the folder is of another export */
  #note(): Note | undefined {
    const { folder, request } = this.#needs
    const path = join(folder, noteName)
    if (!existsSync(path)) return undefined
    const note = JSON.parse(readFileSync(path, 'utf8')) as Note
    if (JSON.stringify(note.request) === JSON.stringify(request)) return note
    const message = `${folder} holds another export that was interrupted: take another folder`
    throw new CommandError('folder_in_use', message)
  }

  async #find(id: string): Promise<Job> {
    return await this.#needs.session.call<Job>({ method: 'GET', path: `/exports/${id}` })
  }

  /** Downloads a file as far as it is not here yet. */
  async #fetch(id: string, file: ExportedFile, signal: AbortSignal): Promise<void> {
    const { session, folder } = this.#needs
    if (!isInFolder(file.name)) {
      throw new CommandError(
        'not_this_service',
        `${file.name} is not the name of a file in a folder`,
      )
    }
    const path = join(folder, file.name)
    const part = path + partEnding
    if (existsSync(path) && (await digestOf(path)) === file.sha256) return
    const from = existsSync(part) ? statSync(part).size : 0
    if (from < file.bytes) {
      const incoming = await session.open({
        method: 'GET',
        path: `/exports/${id}/files/${file.name}`,
        headers: { range: `bytes=${from}-`, 'if-range': `"${file.sha256}"` },
      })
      const flags = incoming.statusCode === 206 ? 'a' : 'w'
      try {
        await pipeline(incoming, createWriteStream(part, { flags }), { signal })
      } catch (error) {
        if (signal.aborted) return
        throw error
      }
    }
    if ((await digestOf(part)) !== file.sha256) {
      rmSync(part)
      throw new CommandError('export_failed', `${file.name} came damaged: run the command again`)
    }
    renameSync(part, path)
  }

  async #cancelled(id: string, { rows }: Job): Promise<CommandError> {
    const { session, folder } = this.#needs
    await session.call({ method: 'POST', path: `/exports/${id}/cancel` })
    const message = `cancelled after ${rows} readings: ${folder} is not complete`
    const remedy = 'Run the same command again: it goes on where it was.'
    return new CommandError('interrupted', message, { remedy })
  }

  /** The service need not keep what is here. */
  async #end(id: string, { rows, files }: Job): Promise<Pick<Job, 'rows' | 'files'>> {
    const { session, folder } = this.#needs
    await session.remove(`/exports/${id}`)
    rmSync(join(folder, noteName))
    return { rows, files }
  }
}

/** Another server than ours may answer: nothing outside the folder is written. */
function isInFolder(name: string): boolean {
  return name === basename(name) && !name.startsWith('.') && !/[\\\0]/.test(name)
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}
