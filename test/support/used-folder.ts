import { cpSync, rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { newDataDir, startServiceProcess } from './service-process.ts'

/** Folders as a service has made and left them: one is made, and each caller gets a copy. */
export function usedFolders(environment: Readonly<Record<string, string>> = {}): () => string {
  const original = newDataDir()
  const copies: string[] = []

  beforeAll(async () => {
    await (await startServiceProcess(original, environment)).end('SIGTERM')
  })

  afterEach(() => {
    for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true })
  })

  afterAll(() => rmSync(original, { recursive: true, force: true }))

  return () => {
    const copy = newDataDir()
    copies.push(copy)
    cpSync(original, copy, { recursive: true })
    return copy
  }
}
