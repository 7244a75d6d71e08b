/** One page of a list, and what asks for the next one. */
export type ListPart<Row> = { rows: Row[]; next: string | null }
