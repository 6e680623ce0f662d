import { api } from '../../api/client.ts'
import { type Failure, failureOf } from '../../api/failure.ts'

export type Deed = 'pause' | 'resume' | 'delete'

/** What was done to each of the chosen streams, and what was refused. */
export interface BulkOutcome {
  readonly deed: Deed
  readonly done: readonly string[]
  readonly refused: readonly { readonly name: string; readonly failure: Failure }[]
}

export interface Chosen {
  readonly id: string
  readonly name: string
}

/** Calls under way at once: a browser has six connections. */
const atOnce = 3

const operations = { pause: 'pauseStream', resume: 'resumeStream', delete: 'deleteStream' } as const

/** Does one thing to many streams. One that is refused holds up no other. */
export async function doToAll(
  deed: Deed,
  chosen: readonly Chosen[],
  onProgress: (count: number) => void,
): Promise<BulkOutcome> {
  const done: string[] = []
  const refused: { name: string; failure: Failure }[] = []
  const left = chosen.values()
  const work = async () => {
    for (const { id, name } of left) {
      try {
        await api.call(operations[deed], { path: { streamId: id } })
        done.push(id)
      } catch (error) {
        refused.push({ name, failure: failureOf(error) })
      }
      onProgress(done.length + refused.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { deed, done, refused }
}
