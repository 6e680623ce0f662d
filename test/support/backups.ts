import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'

export interface BackupAnswer {
  readonly backupId: string
  readonly status: string
  readonly to: string
  readonly error: string | null
  readonly received: number | null
  readonly lostFiles: number | null
  readonly files: readonly { readonly name: string; readonly bytes: number }[] | null
  readonly progress: { readonly phase: string } | null
}

/** Begins a backup. */
export async function beginBackup(
  api: ApiClient,
  to: string,
  rest: { readonly withMasterKey?: boolean } = { withMasterKey: true },
): Promise<BackupAnswer> {
  const answer = await api.withToken<BackupAnswer>('POST', '/backups', { to, ...rest })
  expect(answer).toMatchObject({ status: 202, body: { status: 'running' } })
  return answer.body
}

/** What became of it, once it is not running any more. */
export async function endOfBackup(api: ApiClient, backupId: string): Promise<BackupAnswer> {
  for (;;) {
    const { body } = await api.withToken<BackupAnswer>('GET', `/backups/${backupId}`)
    if (body.status !== 'running') return body
    await sleep(20)
  }
}

/** Makes a backup, which has to succeed. */
export async function backUp(api: ApiClient, to: string): Promise<BackupAnswer> {
  const ended = await endOfBackup(api, (await beginBackup(api, to)).backupId)
  expect(ended).toMatchObject({ status: 'completed', error: null })
  return ended
}
