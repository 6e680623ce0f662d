import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'
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
    // A fault can hide behind a good answer: then only the log knows of it.
    expect(faultsIn(process?.output() ?? '')).toEqual([])
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

/** Lines of the log that tell of a fault of the service: pino's level of errors, or above. */
function faultsIn(output: string): readonly string[] {
  return output.split('\n').filter((line) => /^\{"level":[56]0,/.test(line))
}
