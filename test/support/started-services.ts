import { rmSync } from 'node:fs'
import { afterEach } from 'vitest'
import {
  type LaunchedProcess,
  launchServiceProcess,
  newDataDir,
  type ServiceProcess,
} from './service-process.ts'

type Environment = Readonly<Record<string, string>>

export interface StartedServices {
  /** A new empty folder for data. */
  readonly newFolder: () => string
  readonly launch: (dataDir: string, environment?: Environment) => Promise<LaunchedProcess>
  readonly start: (dataDir: string, environment?: Environment) => Promise<ServiceProcess>
}

/** Lets a test start services of its own: after it, they are ended and their folders removed. */
export function startedServices(): StartedServices {
  const launched: LaunchedProcess[] = []
  const folders: string[] = []

  afterEach(async () => {
    for (const process of launched.splice(0)) {
      process.signal('SIGKILL')
      await process.exited
    }
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  const launch: StartedServices['launch'] = async (dataDir, environment) => {
    const process = await launchServiceProcess(dataDir, environment)
    launched.push(process)
    return process
  }
  return {
    newFolder() {
      const folder = newDataDir()
      folders.push(folder)
      return folder
    },
    launch,
    start: async (dataDir, environment) => (await launch(dataDir, environment)).listening(),
  }
}
