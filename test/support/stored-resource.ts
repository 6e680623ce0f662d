interface Entry {
  readonly step: number
  readonly status: string
  readonly completed_at: string
}

/** What a later answer shows of a resource that waits for a ledger, by what was answered when it was made. */
export function asStored<Body extends object>(made: Body): Body {
  const [received] = (made as { readonly progress?: readonly Entry[] }).progress ?? []
  const status = 'METADATA_STORED'
  return { ...made, status, progress: [received, { ...received, step: 2, status }] }
}
