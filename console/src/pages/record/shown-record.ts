/** What can be done about a record at once. */
export interface RecordDeed {
  readonly says: string
  readonly done: string
  readonly needs: string
  readonly run: () => Promise<unknown>
}

export interface ShownRecord {
  readonly title: string
  readonly facts: object
  readonly deeds: readonly RecordDeed[]
  /** Pages that know more of what it is about. */
  readonly links: readonly { readonly name: string; readonly href: string }[]
}
