import { rmSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { ApiClient } from './api-client.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from './service-process.ts'

export interface RunningService {
  readonly api: ApiClient
  readonly process: ServiceProcess
}

/** A real service process that runs during the tests of one file. Ask it for its parts in tests. */
export function runningService(environment: Readonly<Record<string, string>> = {}): RunningService {
  let process: ServiceProcess | undefined
  let api: ApiClient | undefined

  beforeAll(async () => {
    process = await startServiceProcess(newDataDir(), environment)
    api = new ApiClient(process.http)
  })

  afterAll(async () => {
    await process?.end('SIGTERM')
    if (process) rmSync(process.dataDir, { recursive: true })
  })

  return {
    get api() {
      if (!api) throw new Error('the service does not run yet')
      return api
    },
    get process() {
      if (!process) throw new Error('the service does not run yet')
      return process
    },
  }
}
