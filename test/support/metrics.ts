import type { ServiceProcess } from './service-process.ts'

type Service = Pick<ServiceProcess, 'http'>

/**
 * Figures of GET /metrics at one moment, by their names without `streamvault_`, with labels where they have some. One
 * that is not there is an error: a test that is about nothing would pass.
 */
export async function metricsOf({ http }: Service): Promise<(name: string) => number> {
  const text = await (await fetch(`${http}/metrics`)).text()
  const figures = new Map(
    text
      .split('\n')
      .map((line) => /^streamvault_(\S+) (\S+)$/.exec(line))
      .flatMap((found) => (found ? [[found[1], Number(found[2])]] : [])),
  )
  return (name) => {
    const figure = figures.get(name)
    if (figure === undefined) throw new Error(`there is no metric ${name}`)
    return figure
  }
}

/** One of {@link metricsOf}. */
export async function metricOf(service: Service, name: string): Promise<number> {
  return (await metricsOf(service))(name)
}
