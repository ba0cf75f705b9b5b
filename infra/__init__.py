from infra import waiting

waiting.mend()
