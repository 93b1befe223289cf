// Economic event codes: The euro area as a whole.

/** Code to what it means (spec 2.9). */
export const euEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product of the euro area: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY:
    'Real gross domestic product of the euro area: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_YOY:
    "Harmonised consumer prices (HICP): change over a year, the measure of the European Central Bank's target.",
  INFLATION_RATE_HEADLINE_MOM: 'Harmonised consumer prices (HICP): change over the month before.',
  INFLATION_RATE_FLASH_YOY: 'Harmonised consumer prices, first estimate: change over a year.',
  INFLATION_RATE_CORE_YOY:
    'Harmonised consumer prices without energy, food, alcohol and tobacco: change over a year.',
  INFLATION_RATE_CORE_FLASH_YOY:
    'Harmonised consumer prices without energy, food, alcohol and tobacco, first estimate: change over a year.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices of industry: change over a year.',
  INFLATION_PPI_HEADLINE_MOM: 'Producer prices of industry: change over the month before.',
  INFLATION_EXPECTATIONS_CONSUMERS_1Y:
    "Inflation that consumers expect for the year ahead, by the European Central Bank's survey.",
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is without work and looks for it.',
  EMPLOYMENT_EMPLOYMENT_CHANGE_QOQ: 'Number of people in work: change over the quarter before.',
  EMPLOYMENT_NEGOTIATED_WAGES_YOY:
    'Wages agreed in collective bargaining, by the European Central Bank: change over a year.',
  EMPLOYMENT_LABOR_COST_INDEX_YOY: 'Cost of an hour of labour: change over a year.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Volume of retail trade: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Volume of retail trade: change over a year.',
  CONSUMPTION_CONSUMER_CONFIDENCE:
    "The European Commission's survey of consumers; above 0 more are hopeful than not.",
  BUSINESS_PMI_MANUFACTURING_HCOB:
    "HCOB's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_HCOB:
    "HCOB's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_HCOB:
    "HCOB's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_ECONOMIC_SENTIMENT_EC:
    "The European Commission's economic sentiment indicator, of companies and consumers; 100 is the long-term average.",
  BUSINESS_ECONOMIC_SENTIMENT_ZEW:
    "ZEW's survey of what financial experts expect of the euro area in six months; above 0 more are hopeful than not.",
  BUSINESS_INVESTOR_CONFIDENCE_SENTIX:
    "Sentix's survey of investors on the euro area; above 0 more are hopeful than not.",
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM:
    'Output of industry without construction: change over the month before.',
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of industry without construction: change over a year.',
  HOUSING_CONSTRUCTION_OUTPUT_MOM: 'Output of construction: change over the month before.',
  HOUSING_PRICE_INDEX_YOY: 'House prices in the euro area: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports with the rest of the world, in the month.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the month.',
  BONDS_EU_AUCTION: 'Auction of bonds of the European Union.',
  POLITICAL_EVENT_EUROPEAN_PARLIAMENT_ELECTION: 'Election of the European Parliament.',
  POLITICAL_EVENT_EUROPEAN_COUNCIL: 'Meeting of the heads of state or government of the European Union.',
  POLITICAL_EVENT_EUROGROUP_MEETING: 'Meeting of the finance ministers of the euro area.',
  ECB_POLICY_INTEREST_RATE_DECISION: "The European Central Bank's decision on its main refinancing rate.",
  ECB_POLICY_DEPOSIT_FACILITY_RATE:
    'The rate that banks get for overnight deposits with the European Central Bank.',
  ECB_POLICY_MARGINAL_LENDING_RATE:
    'The rate that banks pay for overnight credit of the European Central Bank.',
  ECB_POLICY_PRESS_CONFERENCE: "The President's press conference after a decision of the Governing Council.",
  ECB_POLICY_MEETING_ACCOUNTS:
    'Account of the last monetary policy meeting of the Governing Council, four weeks after it.',
  ECB_POLICY_ECONOMIC_PROJECTIONS:
    "Forecasts of the European Central Bank's staff for growth and inflation, each quarter.",
  ECB_POLICY_MONEY_SUPPLY_M3_YOY: 'Money supply (M3): change over a year.',
  ECB_POLICY_LENDING_TO_HOUSEHOLDS_YOY: 'Loans to households: change over a year.',
  ECB_SPEECH_PRESIDENT: 'Speech of the President of the European Central Bank.',
  ECB_SPEECH_EXECUTIVE_BOARD: "Speech of another member of the European Central Bank's Executive Board.",
};
