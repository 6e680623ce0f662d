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
  readonly launch: (
    dataDir: string,
    environment?: Environment,
    project?: string,
  ) => Promise<LaunchedProcess>
  /** @param project the folder of a copy of the service */
  readonly start: (
    dataDir: string,
    environment?: Environment,
    project?: string,
  ) => Promise<ServiceProcess>
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

  const launch: StartedServices['launch'] = async (dataDir, environment, project) => {
    const process = await launchServiceProcess(dataDir, environment, project)
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
    start: async (...given) => (await launch(...given)).listening(),
  }
}
